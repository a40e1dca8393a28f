// The settings that say what ports of the InfiniBand fabric can do: of all, of a node's, of those of a link.
#pragma once

#include <array>
#include <string_view>

#include "device_model/settings/table_reader.hpp"
#include "device_model/subnet/fabric_plan.hpp"

namespace urnic::control {

inline constexpr std::array<std::string_view, 4> kAbilityKeys{"width", "speed", "mtu", "vls"};

// The keys that the section has. Throws SettingError.
subnet::PlannedLink read_ability_keys(const settings::TableReader& reader);
// The same; what the section does not say is as `otherwise` has it.
subnet::LinkAbility read_ability(const settings::TableReader& reader, const subnet::LinkAbility& otherwise);

}  // namespace urnic::control
