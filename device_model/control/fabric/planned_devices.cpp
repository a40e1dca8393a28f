#include "device_model/control/fabric/planned_devices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "device_model/control/fabric/limits.hpp"
#include "wire/mad/guid_bytes.hpp"

namespace urnic::control {

std::string description_of(const DeviceSettings& device) {
  if (!device.description.empty()) return device.description;
  char host[65] = {};
  gethostname(host, sizeof host - 1);
  return fmt::format("{} {}", host, device.name);
}

subnet::PlannedNode planned(const DeviceSettings& device, const subnet::LinkAbility& ability) {
  subnet::PlannedNode node{.name = device.name, .description = description_of(device)};
  node.guid = wire::mad::to_guid(node_guid_of(device));
  node.ports = device.fabric_ports;
  node.largest_mtu = static_cast<std::uint8_t>(limits::mtu_code(device.mtu));
  node.ability = ability;
  node.ability.mtu = std::min(ability.mtu, node.largest_mtu);
  return node;
}

}  // namespace urnic::control
