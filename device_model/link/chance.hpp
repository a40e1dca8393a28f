// Chance that can be repeated: draws are a keyed hash of what they are for, not the next numbers of a
// generator, so that they do not depend on what was drawn before.
#pragma once

#include <cstdint>

namespace urnic::link {

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

// A probability, ready to be compared with 64 random bits.
class Chance {
 public:
  constexpr explicit Chance(double probability)
      : certain_(probability >= 1),
        threshold_(probability <= 0 || certain_ ? 0 : static_cast<std::uint64_t>(probability * 0x1p64)) {}

  constexpr bool possible() const { return certain_ || threshold_ != 0; }
  constexpr bool happens(std::uint64_t bits) const { return certain_ || bits < threshold_; }

 private:
  bool certain_;
  std::uint64_t threshold_;
};

}  // namespace urnic::link
