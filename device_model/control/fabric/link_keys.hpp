// The settings of a link by their names in files and commands (docs/configuration.md, [[link]]).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "device_model/control/fabric/setting_key.hpp"
#include "device_model/link/link_settings.hpp"

namespace urnic::control {

using LinkKey = SettingKey<link::LinkSettings>;

std::span<const LinkKey> link_keys();
// Null if no key has this name.
const LinkKey* find_link_key(std::string_view name);

// Two settings that cannot stand together although each is allowed.
struct LinkContradiction {
  std::string_view key;
  std::string_view allowed;
};
std::optional<LinkContradiction> contradiction(const link::LinkSettings& settings);

}  // namespace urnic::control
