// Which descriptors may be open device nodes.
//
// `write` and `ioctl` ask this table first, so that they stay cheap for other descriptors. The table is a
// hint: `close` is not watched, so an entry may be out of date, and identify_descriptor decides. A descriptor
// is entered when the stand-in opens it or fstat recognises it. libibverbs calls fstat on every device
// descriptor that it is given, so inherited and duplicated descriptors are entered too.
#pragma once

#include <atomic>
#include <cstdint>

namespace urnic::kernel {

// The number of descriptors that Linux allows a process by default (fs.nr_open). Pages that are never written
// take no memory.
inline constexpr unsigned kTableSize = 1U << 20;

// For the functions below only.
extern std::atomic<std::uint64_t> descriptor_table[kTableSize / 64];

// False: the descriptor is no device node. True: ask identify_descriptor.
inline bool may_be_device(int descriptor) {
  const auto index = static_cast<unsigned>(descriptor);
  if (__builtin_expect(index >= kTableSize, 0)) return false;
  return (descriptor_table[index / 64].load(std::memory_order_relaxed) >> (index % 64) & 1) != 0;
}

// Set and clear the descriptor's entry. A descriptor past the table's end is ignored.
void enter_device(int descriptor);
void remove_device(int descriptor);

}  // namespace urnic::kernel
