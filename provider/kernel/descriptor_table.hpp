// Which descriptors may be open device nodes.
//
// `write` must know, and must not cost other programs anything, so it asks this table first. The table is a
// hint: `close` is not watched, so an entry may be out of date, and whoever finds one makes sure with
// identify_descriptor. A descriptor gets in when it is opened here, or recognised by fstat: libibverbs calls
// that on every device descriptor it is given, so inherited and duplicated ones get in as well.
#pragma once

#include <atomic>
#include <cstdint>

namespace urnic::kernel {

// As many as Linux allows a process by default (fs.nr_open). Pages that are never written take no memory.
inline constexpr unsigned kTableSize = 1U << 20;

// For the functions below only.
extern std::atomic<std::uint64_t> descriptor_table[kTableSize / 64];

// False: the descriptor is no device node. True: look closer.
inline bool may_be_device(int descriptor) {
  const auto index = static_cast<unsigned>(descriptor);
  if (__builtin_expect(index >= kTableSize, 0)) return false;
  return (descriptor_table[index / 64].load(std::memory_order_relaxed) >> (index % 64) & 1) != 0;
}

// Descriptors outside of the table are ignored.
void enter_device(int descriptor);
void remove_device(int descriptor);

}  // namespace urnic::kernel
