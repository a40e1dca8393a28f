// Where a device's numbers begin: QPNs, keys, SRQ numbers.
//
// If they began alike on each device, a program with a device could guess those of another. So each device
// draws the first numbers from a seed. The same seed gives the same numbers for the same calls, so that a
// capture can be repeated.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/mix.hpp"

namespace urnic::memory {

// What a draw is for; draws for different purposes are independent.
enum class NumberDraw : std::uint8_t { key_index, key_variation, qp_index, qp_generation, srq_number };

class NumberSeed {
 public:
  // Numbers begin at the lowest one. For unit tests.
  NumberSeed() = default;
  explicit NumberSeed(std::uint64_t seed) : seed_(seed) {}

  // 64 bits: draw number `which` for `purpose`; 0 without a seed.
  std::uint64_t bits(NumberDraw purpose, std::uint32_t which = 0) const {
    if (!seed_) return 0;
    return transport::mix(transport::mix(*seed_, static_cast<std::uint64_t>(purpose)), which);
  }

 private:
  std::optional<std::uint64_t> seed_;
};

}  // namespace urnic::memory
