#include "device_model/control/admin/wire_description.hpp"

#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {

using nlohmann::json;

json describe_wire(const ServedDevice& device) {
  json description{{"kind", name(device.settings.wire_kind)}};
  if (device.udp == nullptr) return description;
  description["interface"] = device.udp->interface.name;
  description["interface_mtu"] = device.udp->interface.mtu;
  description["port"] = wire::kRocePort;
  json& addresses = description["addresses"] = json::array();
  for (const wire::Gid& gid : device.settings.gids)
    if (gid != wire::Gid{}) addresses.push_back(to_text(gid));
  json& counters = description["counters"] = json::object();
  for (const UdpCounterValue& counter : udp_counter_values(device.udp->port.counters()))
    counters[std::string(counter.name)] = counter.value;
  return description;
}

}  // namespace urnic::control
