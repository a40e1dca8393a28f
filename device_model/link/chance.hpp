// Random choices that can be repeated: each is a keyed hash of its purpose, not the next number of a
// generator, so it does not depend on the choices before.
#pragma once

#include <cstdint>

#include "device_model/transport/mix.hpp"

namespace urnic::link {

using transport::mix;

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
