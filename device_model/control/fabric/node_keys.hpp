// The settings that name a node of the InfiniBand fabric: of devices, switches and hosts alike.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "device_model/settings/table_reader.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::control {

// Printable characters of ASCII, as many as NodeDescription has (IBTA 14.2.5.2), none of those in `without`.
bool is_node_text(std::string_view text, std::string_view without);

// "description"; empty: the section has none. Throws SettingError.
std::optional<std::string> read_description(const settings::TableReader& reader);
// "node_guid"; zero: the section has none. Throws SettingError.
wire::mad::Guid read_node_guid(const settings::TableReader& reader);

}  // namespace urnic::control
