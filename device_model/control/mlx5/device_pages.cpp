#include "device_model/control/mlx5/device_pages.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "device_model/memory/sealed_memory.hpp"

namespace urnic::control::mlx5 {
namespace {

// With its room, so that no store by the program ever finds the machine's memory full.
memory::Descriptor make_memory(const char* name, std::size_t bytes) {
  memory::Descriptor descriptor = memory::make_sealed_memory(name, bytes);
  if (!descriptor || fallocate(descriptor.get(), 0, 0, static_cast<off_t>(bytes)) != 0)
    throw std::system_error(ENOMEM, std::generic_category(), name);
  return descriptor;
}

}  // namespace

DevicePages::DevicePages(const char* name, std::uint32_t count, Account& account)
    : count_(count),
      charge_(account.charge(Resource::memory, count * kPageBytes)),
      memory_(make_memory(name, count * kPageBytes)),
      mapping_(memory_.get(), count * kPageBytes) {}

}  // namespace urnic::control::mlx5
