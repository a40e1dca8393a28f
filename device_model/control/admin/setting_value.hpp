// The value of a setting in a request.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "device_model/control/fabric/setting_key.hpp"
#include "device_model/control/fabric/value_names.hpp"
#include "json/json.hpp"

namespace urnic::control {

// Throws std::runtime_error with what is allowed.
template <class Settings>
double setting_value(const SettingKey<Settings>& key, const nlohmann::json& value) {
  if (key.flag && value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!key.flag && value.is_number() && key.accepts(value.get<double>())) return value.get<double>();
  throw std::runtime_error(fmt::format("{} = {}: allowed is {}", key.name, json_text(value), key.allowed));
}

// The value of an enumeration by its name. Throws std::runtime_error with what is allowed.
template <typename Enumeration, std::size_t kCount>
Enumeration named_value(std::string_view key, const std::array<std::string_view, kCount>& names,
                        const nlohmann::json& value) {
  const auto found =
      value.is_string() ? find_value<Enumeration>(names, value.get<std::string>()) : std::nullopt;
  if (!found)
    throw std::runtime_error(
        fmt::format("{} = {}: allowed is \"{}\"", key, json_text(value), fmt::join(names, "\", \"")));
  return *found;
}

}  // namespace urnic::control
