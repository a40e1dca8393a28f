#include "device_model/control/mlx5/uar_memory.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "device_model/memory/sealed_memory.hpp"

namespace urnic::control::mlx5 {
namespace {

// The commands that an offset names, in its bits from 8 pages on (mlx5_user_mmap in libmlx5's mlx5.h).
constexpr std::uint64_t kRegularPages = 0;
constexpr std::uint64_t kUncachedPages = 3;
constexpr unsigned kCommandShift = 8;

// With its room, so that no store by the program ever finds the machine's memory full.
memory::Descriptor make_memory(std::size_t bytes) {
  memory::Descriptor descriptor = memory::make_sealed_memory("urnic-uar", bytes);
  if (!descriptor || fallocate(descriptor.get(), 0, 0, static_cast<off_t>(bytes)) != 0)
    throw std::system_error(ENOMEM, std::generic_category(), "doorbell pages");
  return descriptor;
}

}  // namespace

UarMemory::UarMemory(std::uint32_t count, Account& account)
    : count_(count),
      charge_(account.charge(Resource::memory, count * kUarBytes)),
      memory_(make_memory(count * kUarBytes)),
      mapping_(memory_.get(), count * kUarBytes) {}

std::optional<std::uint64_t> UarMemory::find(std::uint64_t offset, std::uint64_t length) const {
  const std::uint64_t page = offset / kUarBytes;
  const std::uint64_t command = page >> kCommandShift;
  const std::uint64_t index = page & ((1u << kCommandShift) - 1);
  const bool known = command == kRegularPages || command == kUncachedPages;
  if (offset % kUarBytes != 0 || length != kUarBytes || !known || index >= count_) return std::nullopt;
  return index * kUarBytes;
}

}  // namespace urnic::control::mlx5
