// The admin socket's request for the InfiniBand fabric: "subnet".
#include <array>
#include <string>
#include <string_view>

#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/admin/subnet_description.hpp"
#include "device_model/control/fabric/deadlock_report.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/subnet/network.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

// In the order of SubnetManager::State.
constexpr std::array<std::string_view, 4> kManagerStates{"none", "starting", "running", "ended"};
// By an ibv_port_state.
constexpr std::array<std::string_view, 5> kPortStates{"unknown", "down", "initialize", "armed", "active"};

json describe_port(const char* member, const std::string& name, const subnet::Node& adapter) {
  const wire::mad::PortInfo& info = adapter.ports[1].info;
  const auto state = static_cast<std::size_t>(info.state);
  return {{member, name},
          {"state", kPortStates[state < kPortStates.size() ? state : 0]},
          {"lid", info.lid.value},
          {"gid", to_text(first_gid_of(adapter))},
          {"manager_lid", info.manager_lid.value}};
}

}  // namespace

json describe_subnet(Fabric& fabric, const SubnetManager& manager) {
  json ports = json::array();
  for (const auto& device : fabric.devices())
    if (device->adapter)
      ports.push_back(describe_port("device", device->settings.name, fabric.subnet().node(*device->adapter)));
  json stations = json::array();
  for (const auto& [host, port] : fabric.stations().hosts())
    stations.push_back(describe_port("host", fabric.subnet().node(host).name, fabric.subnet().node(host)));
  const std::string deadlock = deadlock_text(fabric);
  return {{"manager", name(manager.choice())},
          {"state", kManagerStates[static_cast<std::size_t>(manager.state())]},
          {"pid", manager.pid() != 0 ? json(manager.pid()) : json()},
          {"problem", manager.problem().empty() ? json() : json(manager.problem())},
          {"program_manages", fabric.subnet().has_managing_program()},
          {"brought_up", manager.has_brought_up()},
          {"deadlock", deadlock.empty() ? json() : json(deadlock)},
          {"ports", ports},
          {"stations", stations}};
}

json AdminServer::subnet(const json&, AdminConnectionState&) {
  return {{"subnet", describe_subnet(surroundings_.fabric, surroundings_.manager)}};
}

}  // namespace urnic::control
