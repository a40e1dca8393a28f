// Fault plans as TOML (docs/faults.md).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device_model/fault/fault_rule.hpp"
#include "device_model/settings/setting_error.hpp"

namespace urnic::fault {

// The rules of a plan, with filters that compile. `name` stands for the file in errors; `devices` are the
// devices' names, in configuration order. Throws settings::SettingError: one line with the file, the line,
// the key, the value and what is allowed.
std::vector<FaultRule> parse_plan(const std::string& text, const std::string& name,
                                  std::span<const std::string> devices);

}  // namespace urnic::fault
