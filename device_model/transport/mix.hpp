// A keyed hash of integers, for random choices that can be repeated: a value depends on a seed and on its
// use, not on the values drawn before.
#pragma once

#include <cstdint>

namespace urnic::transport {

// A bijection of 64 bits in which every input bit changes every output bit with probability 1/2 (the
// finaliser of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t bits) {
  bits += 0x9E3779B97F4A7C15u;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
  return bits ^ (bits >> 31);
}

// `key` with `value` mixed in.
constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) { return mix(mix(key) ^ value); }

}  // namespace urnic::transport
