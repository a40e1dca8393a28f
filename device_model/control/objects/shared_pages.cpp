#include "device_model/control/objects/shared_pages.hpp"

#include <algorithm>
#include <utility>

#include "device_model/memory/mapped_memory.hpp"
#include "device_model/memory/sealed_memory.hpp"

namespace urnic::control {

SharedPages::SharedPages(memory::Descriptor file, std::uint64_t address, std::uint64_t length,
                         Account& account)
    : file_(std::move(file)),
      number_(memory::file_number(file_.get())),
      address_(address),
      length_(length),
      bytes_charge_(account.charge(Resource::shared_memory, length)),
      descriptor_charge_(account.charge(Resource::descriptors, 1)) {}

std::shared_ptr<SharedPages> SharedPages::make(std::uint64_t address, std::uint64_t length,
                                               Account& account) {
  if (!account.has_room(Resource::shared_memory, length) || !account.has_room(Resource::descriptors, 1))
    return nullptr;
  memory::Descriptor file = memory::make_sealed_memory(kSharedPagesName, length);
  if (!file) return nullptr;
  return std::shared_ptr<SharedPages>(new SharedPages(std::move(file), address, length, account));
}

std::unique_ptr<memory::ApplicationMemory> SharedPages::map(std::uint64_t address, std::uint64_t length,
                                                            memory::ApplicationMemory& otherwise) const {
  const std::uint64_t from = std::max(address, address_);
  const std::uint64_t to = std::min(address + length, end());
  if (from >= to) return nullptr;
  return memory::MappedMemory::map(file_.get(), {from - address_, from, to - from}, true, otherwise);
}

}  // namespace urnic::control
