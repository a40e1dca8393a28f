// Values of an enumeration by their names in files and commands.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace urnic::control {

// The value whose number is the place of `name` in `names`; empty: none has it.
template <typename Enumeration, std::size_t kCount>
constexpr std::optional<Enumeration> find_value(const std::array<std::string_view, kCount>& names,
                                                std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i)
    if (names[i] == name) return static_cast<Enumeration>(i);
  return {};
}

}  // namespace urnic::control
