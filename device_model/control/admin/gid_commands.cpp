// The admin socket's request for addresses: "gid".
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/sysfs/port_files.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"
#include "json/json.hpp"
#include "wire/ethernet.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

constexpr wire::Gid kNone{};

wire::Gid read_gid(const json& text) {
  const auto gid = text.is_string() ? parse_gid(text.get<std::string>()) : std::nullopt;
  if (!gid || !wire::is_unicast(*gid))
    throw std::runtime_error(fmt::format(
        "gid = {}: allowed is the unicast IPv6 address of one device, such as \"::ffff:192.0.2.7\"",
        json_text(text)));
  return *gid;
}

// 0: none.
std::uint16_t read_vlan(const json& request) {
  const auto vlan = request.find("vlan");
  if (vlan == request.end()) return 0;
  if (!vlan->is_number_unsigned() || *vlan < 1u || *vlan > wire::kLastVlan)
    throw std::runtime_error(fmt::format("vlan = {}: allowed is the number of a VLAN, 1 to {}",
                                         json_text(*vlan), wire::kLastVlan));
  return vlan->get<std::uint16_t>();
}

// Returns the index of the new GID.
std::size_t add(const Fabric& fabric, DeviceSettings& device, const wire::Gid& gid, std::uint16_t vlan) {
  if (fabric.resolve(gid))
    throw std::runtime_error(fmt::format("{} is a device's address already", to_text(gid)));
  const auto index = add_gid(device.gids, gid);
  if (!index)
    throw std::runtime_error(
        fmt::format("all {} places of the GID table are taken", limits::kGidTableLength));
  if (vlan != 0) device.vlans[*index] = vlan;
  return *index;
}

// Returns the index of the removed GID; other GIDs keep theirs.
std::size_t remove(DeviceSettings& device, const wire::Gid& gid) {
  std::vector<wire::Gid>& gids = device.gids;
  const auto found = std::find(gids.begin(), gids.end(), gid);
  if (found == gids.end()) throw std::runtime_error(fmt::format("{} is not its address", to_text(gid)));
  const auto used =
      std::count_if(gids.begin(), gids.end(), [](const wire::Gid& each) { return each != kNone; });
  if (used == 1)
    throw std::runtime_error(fmt::format("{} is its only address: add another first", to_text(gid)));
  *found = kNone;
  const auto index = static_cast<std::size_t>(found - gids.begin());
  device.vlans.erase(index);
  return index;
}

json describe(const ServedDevice& device) {
  json gids = json::object();
  for (std::size_t i = 0; i < device.settings.gids.size(); ++i) {
    if (device.settings.gids[i] != kNone) gids[std::to_string(i)] = to_text(device.settings.gids[i]);
  }
  return gids;
}

json describe_vlans(const ServedDevice& device) {
  json vlans = json::object();
  for (const auto& [index, vlan] : device.settings.vlans) vlans[std::to_string(index)] = vlan;
  return vlans;
}

}  // namespace

// Existing paths and address handles keep using their address, as on a real NIC.
json AdminServer::gid(const json& request, AdminConnectionState&) {
  Fabric& fabric = surroundings_.fabric;
  ServedDevice* const only = find_device(fabric, request);
  const auto added = request.find("add");
  const auto removed = request.find("remove");
  if (added != request.end() || removed != request.end()) {
    if (only == nullptr)
      throw std::runtime_error("\"device\" must name the one device whose address is meant");
    if (added != request.end() && removed != request.end())
      throw std::runtime_error("\"add\" and \"remove\" are two requests");
    if (only->udp != nullptr)
      throw std::runtime_error(fmt::format(
          "the addresses of {} are those of the host on which it listens: its configuration names them",
          only->settings.name));
    if (only->interface)
      throw std::runtime_error(fmt::format(
          "the addresses of {} are those of its network interface: 'urnic run -- ip address' changes them",
          only->settings.name));
    DeviceSettings& settings = only->settings;
    const std::size_t index = added != request.end()
                                  ? add(fabric, settings, read_gid(*added), read_vlan(request))
                                  : remove(settings, read_gid(*removed));
    show_gid(surroundings_.sysfs.port_folder(*only), index, settings.gids[index]);
    fabric.gids_changed(*only);
  }
  json gids = json::object();
  json vlans = json::object();
  for (const auto& device : fabric.devices()) {
    if (only != nullptr && only != device.get()) continue;
    gids[device->settings.name] = describe(*device);
    vlans[device->settings.name] = describe_vlans(*device);
  }
  return {{"gids", gids}, {"vlans", vlans}};
}

}  // namespace urnic::control
