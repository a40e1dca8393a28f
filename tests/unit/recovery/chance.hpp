// Chance that is the same with every compiler and library: a counter and a mixing function (SplitMix64).
#pragma once

#include <cstdint>

namespace urnic::transport::lab {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [0, 1).
  double share() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  bool happens(double probability) { return probability > 0 && share() < probability; }
  // In [least, most].
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(share() * static_cast<double>(most - least + 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace urnic::transport::lab
