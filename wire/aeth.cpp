#include "wire/aeth.hpp"

#include <bit>

namespace urnic::wire {
namespace {

// Both tables (credits, RNR timer) are the series 2, 3, 4, 6, 8, 12, 16 … from index 2 on: each pair is twice
// the pair before.
constexpr std::uint32_t half_octave(std::uint32_t index) { return (2 + (index & 1)) << (index / 2 - 1); }

constexpr std::uint8_t kLargestCreditCode = 30;

}  // namespace

std::uint32_t credits_from_code(std::uint8_t credit_code) {
  const std::uint32_t index = credit_code & 0x1F;
  return index < 2 ? index : half_octave(index);
}

std::uint8_t credit_code_for(std::uint32_t credits) {
  if (credits < 2) return static_cast<std::uint8_t>(credits);
  if (credits >= half_octave(kLargestCreditCode)) return kLargestCreditCode;
  const auto octave = static_cast<std::uint32_t>(std::bit_width(credits)) - 1;
  const std::uint32_t upper_half = (credits >> (octave - 1)) & 1;
  return static_cast<std::uint8_t>(2 * octave + upper_half);
}

std::chrono::nanoseconds rnr_timer(std::uint8_t timer_code) {
  constexpr std::chrono::microseconds kUnit{10};
  const std::uint32_t index = timer_code & 0x1F;
  // Code 0 is the longest wait: it stands for index 32.
  if (index == 0) return kUnit * half_octave(32);
  return kUnit * (index == 1 ? 1 : half_octave(index));
}

}  // namespace urnic::wire
