// A keyed hash of integers, for what must look random and be repeatable: a value follows from a seed and from
// what it is for, not from the values drawn before it.
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

// A key that one more value was added to.
constexpr std::uint64_t mix(std::uint64_t key, std::uint64_t value) { return mix(mix(key) ^ value); }

}  // namespace urnic::transport
