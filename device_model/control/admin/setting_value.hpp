// The value of a setting in a request.
#pragma once

#include <fmt/format.h>

#include <stdexcept>

#include "device_model/control/fabric/setting_key.hpp"
#include "json/json.hpp"

namespace urnic::control {

// Throws std::runtime_error with what is allowed.
template <class Settings>
double setting_value(const SettingKey<Settings>& key, const nlohmann::json& value) {
  if (key.flag && value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (!key.flag && value.is_number() && key.accepts(value.get<double>())) return value.get<double>();
  throw std::runtime_error(fmt::format("{} = {}: allowed is {}", key.name, json_text(value), key.allowed));
}

}  // namespace urnic::control
