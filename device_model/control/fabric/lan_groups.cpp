#include "device_model/control/fabric/lan_groups.hpp"

#include <algorithm>

#include "device_model/control/fabric/fabric.hpp"
#include "wire/neighbour_discovery.hpp"
#include "wire/network_headers.hpp"

namespace urnic::control {
namespace {

// Where reports come from: an own address, or 0.0.0.0 (RFC 3376 4.2.13) or :: (RFC 3810 5.2.13).
wire::Gid source_for(const DeviceSettings& device, const wire::Gid& group) {
  const bool ipv4 = wire::is_ipv4_mapped(group);
  const auto found = std::find_if(device.gids.begin(), device.gids.end(), [&](const wire::Gid& gid) {
    return ipv4 ? wire::is_ipv4_mapped(gid) : wire::is_link_local(gid);
  });
  return found != device.gids.end() ? *found : wire::Gid{};
}

}  // namespace

std::vector<link::GroupMember> lan_group_members(const std::vector<std::unique_ptr<ServedDevice>>& devices) {
  std::vector<link::GroupMember> members;
  for (const auto& device : devices) {
    if (device->udp != nullptr || device->adapter) continue;
    const DeviceSettings& settings = device->settings;
    const auto add = [&](const wire::Gid& group) {
      members.push_back({settings.mac, group, source_for(settings, group)});
    };
    for (const wire::Gid& group : device->multicast.group_list()) add(group);
    for (const wire::Gid& gid : settings.gids)
      if (gid != wire::Gid{} && !wire::is_ipv4_mapped(gid)) add(wire::solicited_node_group(gid));
  }
  return members;
}

}  // namespace urnic::control
