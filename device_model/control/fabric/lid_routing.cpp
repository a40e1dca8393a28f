#include "device_model/control/fabric/lid_routing.hpp"

#include <utility>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/lid_outputs.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/byte_order.hpp"
#include "wire/mad/subnet_tables.hpp"

namespace urnic::control {
namespace {

using wire::mad::PortState;

constexpr std::uint32_t kNever = 0xFFFFFFFF;

std::vector<link::LidPort> ports_of(const subnet::Node& node) {
  std::vector<link::LidPort> ports(node.ports.size());
  for (std::size_t number = 0; number < ports.size(); ++number) {
    const subnet::Port& port = node.ports[number];
    if (!port.peer) continue;
    ports[number] = {port.peer->node, port.peer->port, port.info.state == PortState::active,
                     port.info.local_physical_errors, !subnet::is_linked(port)};
  }
  return ports;
}

// A mask is of 16 ports, its lowest bit is the first of them (IBTA 14.2.5.12).
std::vector<link::LidPortSet> groups_of(const subnet::Node& node) {
  std::vector<link::LidPortSet> groups;
  for (const auto& [place, data] : node.multicast) {
    const auto [position, block] = place;
    const std::size_t first = std::size_t{block} * wire::mad::kGroupsOfBlock;
    if (groups.size() < first + wire::mad::kGroupsOfBlock) groups.resize(first + wire::mad::kGroupsOfBlock);
    for (std::size_t group = 0; group < wire::mad::kGroupsOfBlock; ++group) {
      const unsigned mask = wire::load_be16(data.data() + 2 * group);
      for (unsigned bit = 0; bit < wire::mad::kPortsOfPosition; ++bit)
        if ((mask >> bit & 1u) != 0) groups[first + group].set(position * wire::mad::kPortsOfPosition + bit);
    }
  }
  return groups;
}

}  // namespace

LidRouting::LidRouting(const Fabric& fabric) : fabric_(fabric), unit_(fabric.infiniband_unit()) {}

void LidRouting::look_again(subnet::NodeIndex node) {
  if (node < seen_.size()) seen_[node] = kNever;
}

// Hosts may have been added.
void LidRouting::follow() {
  seen_.resize(fabric_.subnet().nodes().size(), kNever);
  gids_.resize(seen_.size());
  managed_.resize(seen_.size());
  std::vector<Change> changes;
  for (subnet::NodeIndex i = 0; i < seen_.size(); ++i) {
    const std::uint32_t revision = fabric_.subnet().node(i).revision;
    if (std::exchange(seen_[i], revision) == revision) continue;
    changes.push_back(change_of(i));
  }
  if (changes.empty()) return;
  unit_.engine.execute([&] {
    for (Change& change : changes) apply(change);
  });
}

LidRouting::Change LidRouting::change_of(subnet::NodeIndex number) {
  const subnet::Node& node = fabric_.subnet().node(number);
  Change change;
  change.number = number;
  change.node.ports = ports_of(node);
  if (unit_.timed_subnet != nullptr) {
    change.node.outputs = lid_outputs(fabric_.subnet().nodes(), number);
    change.node.life_time = node.switch_info.life_time;
  }
  if (node.is_switch()) {
    change.node.linear = node.linear;
    change.node.groups = groups_of(node);
    return change;
  }
  const wire::mad::PortInfo& info = node.ports[1].info;
  change.node.lid = info.lid;
  change.node.lmc = info.lmc;
  if (const auto station = fabric_.stations().port_of(number)) change.node.device = *station;
  change.device = fabric_.device_at(number);
  if (change.device == nullptr) return change;
  change.node.device = change.device->index;
  change.lids = {info.lid, info.lmc};
  const std::vector<wire::Gid> gids = gids_of(node);
  change.has_new_gids = gids_[number] != gids;
  gids_[number] = gids;
  for (const wire::Gid& gid : gids) change.gids.push_back({gid, 0});
  const ManagedPort managed = managed_port_of(node);
  if (managed.pkeys != managed_[number].pkeys)
    change.pkeys.assign(managed.pkeys.begin(), managed.pkeys.end());
  change.events = events_between(managed_[number], managed);
  managed_[number] = managed;
  return change;
}

void LidRouting::apply(Change& change) const {
  unit_.frame_switch.set_lid_node(change.number, std::move(change.node), unit_.engine.now());
  if (change.device == nullptr) return;
  change.device->device->set_lids(change.lids);
  if (change.has_new_gids) change.device->device->set_gids(change.gids);
  if (!change.pkeys.empty()) change.device->device->set_pkeys(change.pkeys);
  for (const engine::DeviceEvent event : change.events) change.device->device->events().raise(event);
}

}  // namespace urnic::control
