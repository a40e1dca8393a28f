// Random decisions that follow from a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>

namespace urnic::device_fuzz {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t number() { return engine_(); }
  std::uint32_t word() { return static_cast<std::uint32_t>(engine_()); }
  // 0 to `limit` - 1; 0 for a limit of 0.
  std::uint32_t below(std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::uint32_t>(engine_() % limit);
  }
  std::uint32_t from(std::uint32_t least, std::uint32_t most) { return least + below(most - least + 1); }
  // True once in `times`.
  bool once_in(std::uint32_t times) { return below(times) == 0; }

  template <typename Item>
  Item one_of(std::initializer_list<Item> items) {
    return items.begin()[below(items.size())];
  }
  // One of `items`; `otherwise` if there is none.
  template <typename Items>
  auto any(const Items& items, decltype(items[0] + 0) otherwise = 0) {
    return items.empty() ? otherwise : items[below(items.size())];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace urnic::device_fuzz
