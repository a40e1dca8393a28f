// The 24-bit packet sequence number and its circular arithmetic (IBTA 9.7.1, 9.7.2).
//
// A PSN never mixes with other integers. PSNs are compared by serial distance: half of the number space lies
// before a PSN and half of it after (IBTA 9.7.5.1.4.1).
#pragma once

#include <cstdint>

namespace urnic::wire {

class Psn {
 public:
  static constexpr std::uint32_t kMask = 0xFFFFFF;

  constexpr Psn() = default;
  // Keeps the low 24 bits of `value`.
  constexpr explicit Psn(std::uint32_t value) : value_(value & kMask) {}

  constexpr std::uint32_t value() const { return value_; }

  // The PSN `count` packets later (or earlier, with `-`), modulo 2^24.
  friend constexpr Psn operator+(Psn psn, std::uint32_t count) { return Psn(psn.value_ + count); }
  friend constexpr Psn operator-(Psn psn, std::uint32_t count) { return Psn(psn.value_ - count); }
  constexpr Psn& operator++() { return *this = *this + 1; }

  friend constexpr bool operator==(Psn, Psn) = default;

  // Signed serial distance from `from` to `to`, in [-2^23, 2^23): positive when `to` comes later.
  friend constexpr std::int32_t distance(Psn from, Psn to) {
    return static_cast<std::int32_t>((to.value_ - from.value_) << 8) >> 8;
  }

 private:
  std::uint32_t value_ = 0;
};

// True if `a` comes before `b` in the circular order.
constexpr bool before(Psn a, Psn b) { return distance(a, b) > 0; }

}  // namespace urnic::wire
