// InterfaceWatch: the devices' own interfaces, those of VLANs on them, and the GIDs that their addresses are.
#include <linux/if_link.h>

#include <algorithm>

#include "device_model/control/fabric/interface_watch.hpp"
#include "device_model/control/fabric/netlink_attributes.hpp"
#include "device_model/control/log/log.hpp"
#include "wire/byte_order.hpp"
#include "wire/ethernet.hpp"

namespace urnic::control {

// What it stands on is known by its index in this namespace only: one whose base is elsewhere is none of
// ours.
void InterfaceWatch::take_vlan(const nlmsghdr& message, Interface& interface) {
  const auto info = attribute<ifinfomsg>(message, IFLA_LINKINFO);
  if (text_of(attribute(info, IFLA_INFO_KIND)) != "vlan") return;
  if (!attribute<ifinfomsg>(message, IFLA_LINK_NETNSID).empty()) return;
  const auto data = attribute(info, IFLA_INFO_DATA);
  const auto protocol = attribute(data, IFLA_VLAN_PROTOCOL);
  if (protocol.size() != 2 || wire::load_be16(protocol.data()) != wire::ether_type::kVlan) return;
  interface.base = number_of<std::uint32_t>(attribute<ifinfomsg>(message, IFLA_LINK));
  interface.vlan = number_of<std::uint16_t>(attribute(data, IFLA_VLAN_ID));
  for (Watched& watched : watched_) rename_vlan(watched, interface);
}

void InterfaceWatch::rename_vlan(Watched& watched, const Interface& interface) {
  ServedDevice& device = watched.device;
  for (auto& [place, own] : device.vlan_interfaces) {
    if (own.index != interface.known.index || own.name == interface.known.name) continue;
    own = interface.known;
    changes_.gid(device, place);
  }
}

// Also of an address that is known: the kernel names it again once others may send from it. Those of VLANs'
// interfaces are not on the device's own one.
void InterfaceWatch::tell_of_own() {
  std::vector<InterfaceState> interfaces;
  for (const Watched& watched : watched_) {
    const ServedDevice& device = watched.device;
    InterfaceState state{device.interface->index, watched.carrier, {}};
    const auto& gids = device.settings.gids;
    for (std::size_t place = 0; place < gids.size(); ++place)
      if (gids[place] != wire::Gid{} && vlan_of(device, place) == 0) state.addresses.push_back(gids[place]);
    interfaces.push_back(std::move(state));
  }
  changes_.own(interfaces);
}

void InterfaceWatch::keep_listed_own_addresses(Watched& watched) {
  const auto& listed = list_.addresses;
  for (const auto& each : std::vector(watched.own))
    if (std::find(listed.begin(), listed.end(), each) == listed.end())
      take_own_address(watched, each.first, each.second, false);
}

void InterfaceWatch::forget_own_addresses(std::uint32_t index) {
  for (Watched& watched : watched_)
    for (const auto& each : std::vector(watched.own))
      if (each.second == index) take_own_address(watched, each.first, index, false);
}

// The device's own interface, or a VLAN's on it.
bool InterfaceWatch::is_own(const Watched& watched, std::uint32_t index) const {
  const std::uint32_t own = watched.device.interface->index;
  const auto found = interfaces_.find(index);
  return index == own || (found != interfaces_.end() && found->second.base == own);
}

void InterfaceWatch::take_own_address(Watched& watched, const wire::Gid& gid, std::uint32_t index,
                                      bool present) {
  const std::pair address(gid, index);
  const bool known = std::find(watched.own.begin(), watched.own.end(), address) != watched.own.end();
  if (!present) std::erase(watched.own, address);
  if (present && !known && is_own(watched, index)) watched.own.push_back(address);
  follow_own_address(watched, gid, index);
}

// As Linux's GID cache: an address is in the table as long as an interface has it, which is the entry's.
// Other entries keep their index. There is one entry for an address that two interfaces have, as a VLAN's has
// the link-local one of the interface below: of the first that got it. `index`: where it has come or gone.
void InterfaceWatch::follow_own_address(Watched& watched, const wire::Gid& gid, std::uint32_t index) {
  ServedDevice& device = watched.device;
  auto& gids = device.settings.gids;
  const auto is_it = [&](const auto& each) { return each.first == gid; };
  const auto holder = std::find_if(watched.own.begin(), watched.own.end(), is_it);
  const auto known = std::find(gids.begin(), gids.end(), gid);
  const bool present = holder != watched.own.end();
  std::optional<std::size_t> place;
  if (known != gids.end()) {
    place = static_cast<std::size_t>(known - gids.begin());
    const std::uint32_t shown = interface_of(device, *place)->index;
    if (present ? shown == holder->second : shown != index) return;
    if (!present) *known = {};
  } else if (!present) {
    return;
  } else if (!fabric_.resolve(gid)) {
    place = add_gid(gids, gid);
  }
  if (!place)
    return log::warn("{}: {} gets no GID: another device has it, or the table is full", device.settings.name,
                     to_text(gid));
  device.settings.vlans.erase(*place);
  device.vlan_interfaces.erase(*place);
  const auto on = interfaces_.find(present ? holder->second : index);
  if (present && on != interfaces_.end() && on->second.vlan != 0) {
    device.settings.vlans[*place] = on->second.vlan;
    device.vlan_interfaces[*place] = on->second.known;
  }
  log::info("{}: its interface {} {} the address {}", device.settings.name,
            on != interfaces_.end() ? on->second.known.name : device.interface->name,
            present ? "has" : "has lost", to_text(gid));
  fabric_.gids_changed(device);
  changes_.gid(device, *place);
}

}  // namespace urnic::control
