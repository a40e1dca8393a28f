// Which copies of the kernel go byte by byte, and so tear aligned words. Its copy is `rep movsb` where the
// processor is quick at it, and AMD's processors tell an overlap by the addresses' offsets within a page:
// where the destination seems to lie shortly behind the source they copy single bytes, at a tenth of the
// speed.
#pragma once

#include <cstdint>

namespace urnic::memory {

inline constexpr std::uint64_t kPageBytes = 4096;

// Seen for distances of 1 to 15 bytes; nothing wider than a vector register of 64 bytes could tell.
inline constexpr std::uint64_t kOverlapBytes = 64;

// From `source` to `destination`, of any two address spaces, of any length.
constexpr bool is_copied_bytewise(std::uint64_t destination, std::uint64_t source) {
  const std::uint64_t distance = (destination - source) % kPageBytes;
  return distance > 0 && distance < kOverlapBytes;
}

}  // namespace urnic::memory
