// Which copies of the kernel go byte by byte, and so tear aligned words. The kernel copies with `rep movsb`
// where the processor does that fast. AMD's processors detect an overlap by the addresses' offsets within a
// page: if the destination seems to lie shortly behind the source, they copy single bytes, at a tenth of the
// speed.
#pragma once

#include <cstdint>

namespace urnic::memory {

inline constexpr std::uint64_t kPageBytes = 4096;

// Copies at smaller distances are bytewise, as measured on AMD Zen 3 (below 16 bytes on the processors before
// it here).
inline constexpr std::uint64_t kBytewiseDistance = 32;
// At this distance or more, the widest vector register, no processor can need to. What can be placed or cut
// is kept away from all smaller ones.
inline constexpr std::uint64_t kOverlapBytes = 64;

// True for a copy from `source` to `destination`, of any two address spaces and any length.
constexpr bool is_copied_bytewise(std::uint64_t destination, std::uint64_t source) {
  const std::uint64_t distance = (destination - source) % kPageBytes;
  return distance > 0 && distance < kOverlapBytes;
}

}  // namespace urnic::memory
