#include "provider/kernel/descriptor_table.hpp"

namespace urnic::kernel {

constinit std::atomic<std::uint64_t> descriptor_table[kTableSize / 64] = {};

void enter_device(int descriptor) {
  const auto index = static_cast<unsigned>(descriptor);
  if (index < kTableSize)
    descriptor_table[index / 64].fetch_or(std::uint64_t{1} << (index % 64), std::memory_order_relaxed);
}

void remove_device(int descriptor) {
  const auto index = static_cast<unsigned>(descriptor);
  if (index < kTableSize)
    descriptor_table[index / 64].fetch_and(~(std::uint64_t{1} << (index % 64)), std::memory_order_relaxed);
}

}  // namespace urnic::kernel
