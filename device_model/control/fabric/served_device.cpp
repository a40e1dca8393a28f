#include "device_model/control/fabric/served_device.hpp"

#include <algorithm>
#include <cerrno>

#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"
#include "device_model/engine/queue_pair/qp_table.hpp"

namespace urnic::control {

ServedDevice::ServedDevice(std::uint32_t number, const DeviceSettings& with)
    : index(number),
      settings(with),
      node_guid(node_guid_of(with)),
      largest_mtu(with.mtu),
      queue_pairs(engine::QpTable::capacity(with.max_qp)) {}

ServedDevice::~ServedDevice() = default;

const link::LocalInterface* interface_of(const ServedDevice& device, std::size_t gid_index) {
  if (const auto own = device.vlan_interfaces.find(gid_index); own != device.vlan_interfaces.end())
    return &own->second;
  if (device.interface) return &*device.interface;
  if (device.udp == nullptr || gid_index >= device.udp->interfaces.size()) return nullptr;
  return &device.udp->interfaces[gid_index];
}

std::uint16_t vlan_of(const ServedDevice& device, std::size_t gid_index) {
  const auto found = device.settings.vlans.find(gid_index);
  return found != device.settings.vlans.end() ? found->second : std::uint16_t{0};
}

std::uint16_t vlan_of(const ServedDevice& device, const wire::Gid& gid) {
  const auto& gids = device.settings.gids;
  return vlan_of(device, static_cast<std::size_t>(std::find(gids.begin(), gids.end(), gid) - gids.begin()));
}

std::optional<std::size_t> add_gid(std::vector<wire::Gid>& gids, const wire::Gid& gid) {
  const auto free = std::find(gids.begin(), gids.end(), wire::Gid{});
  const auto index = static_cast<std::size_t>(free - gids.begin());
  if (index >= limits::kGidTableLength) return std::nullopt;
  if (free == gids.end()) gids.emplace_back();
  gids[index] = gid;
  return index;
}

int find_gid(const ServedDevice& device, std::uint32_t index, wire::Gid& gid) {
  const auto& gids = device.settings.gids;
  if (index >= limits::kGidTableLength) return EINVAL;
  if (index >= gids.size() || gids[index] == wire::Gid{}) return ENODATA;
  gid = gids[index];
  return 0;
}

}  // namespace urnic::control
