// The random numbers of a storm: all of it follows from the seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace urnic::engine::storm {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}

  // From 0 to `most`.
  std::uint64_t up_to(std::uint64_t most) { return engine_() % (most + 1); }
  std::uint32_t number(std::uint32_t least, std::uint32_t most) {
    return least + static_cast<std::uint32_t>(up_to(most - least));
  }
  bool one_in(std::uint32_t times) { return up_to(times - 1) == 0; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return *(values.begin() + up_to(values.size() - 1));
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace urnic::engine::storm
