// A setting that is a number, or true or false, by its name in files and commands.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace urnic::control {

template <class Settings>
struct SettingKey {
  std::string_view name;
  double lowest;
  double highest;
  bool whole;  // a whole number
  std::string_view allowed;
  void (*set)(Settings&, double);
  double (*get)(const Settings&);
  double least_above_zero = 0;
  bool flag = false;  // true or false, as 1 or 0

  bool accepts(double value) const {
    if (!(value >= lowest && value <= highest)) return false;
    if (value > 0 && value < least_above_zero) return false;
    return !whole || value == std::floor(value);
  }
};

// Null if no key has this name.
template <class Settings>
const SettingKey<Settings>* find_key(std::span<const SettingKey<Settings>> keys, std::string_view name) {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const auto& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

}  // namespace urnic::control
