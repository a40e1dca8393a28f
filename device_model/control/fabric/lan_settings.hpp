// [lan] of the configuration: what the switch is joined to outside of this process (docs/wires.md).
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/link/frames/carrier_settings.hpp"

namespace urnic::settings {
class TableReader;
}

namespace urnic::control {

struct LanSettings {
  link::CarrierSettings carrier;
  std::optional<std::uint16_t> vlan;
  // Of IP packets there, bytes; 0: that of the network interface.
  std::uint32_t mtu = 1500;

  // Its carrier is a network interface of the host.
  bool is_interface() const { return link::needs_privilege(carrier.kind); }
};

// Of the section `reader`. Throws ConfigurationError.
LanSettings read_lan_settings(const settings::TableReader& reader);

// Paths that are relative begin at `folder`.
void make_paths_absolute(LanSettings& settings, const std::string& folder);

}  // namespace urnic::control
