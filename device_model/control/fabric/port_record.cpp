#include "device_model/control/fabric/port_record.hpp"

#include "device_model/control/fabric/limits.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

wire::Gid gid_with(std::uint64_t prefix, wire::mad::Guid guid) {
  wire::Gid gid;
  for (unsigned i = 0; i < 8; ++i) {
    gid.bytes[i] = static_cast<std::uint8_t>(prefix >> (56 - 8 * i));
    gid.bytes[8 + i] = static_cast<std::uint8_t>(guid.value >> (56 - 8 * i));
  }
  return gid;
}

PortRecord ethernet_record(const ServedDevice& device, bool up) {
  PortRecord record;
  record.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  record.physical_state = static_cast<std::uint8_t>(up ? limits::kPhysicalLinkUp : limits::kPhysicalPolling);
  record.capabilities = limits::kPortFlags;
  record.active_mtu = limits::mtu_code(device.settings.mtu);
  record.largest_mtu = IBV_MTU_4096;
  record.pkeys = {0xFFFF};
  record.gids = device.settings.gids;
  return record;
}

// The subnet manager's words: IBTA 14.2.5.6.
PortRecord infiniband_record(const subnet::Node& adapter) {
  const subnet::Port& port = adapter.ports[1];
  const wire::mad::PortInfo& info = port.info;
  PortRecord record;
  record.link_layer = LinkLayer::infiniband;
  record.state = static_cast<std::uint8_t>(info.state);
  record.physical_state = static_cast<std::uint8_t>(info.physical_state);
  record.capabilities = info.capability_mask;
  record.lid = info.lid.value;
  record.lmc = info.lmc;
  record.manager_lid = info.manager_lid.value;
  record.manager_sl = info.manager_sl;
  record.subnet_timeout = info.subnet_timeout;
  record.active_mtu = info.neighbor_mtu;
  record.largest_mtu = info.mtu_capacity;
  record.rate = subnet::active_rate(info);
  record.init_type_reply = info.init_reply;
  record.pkey_violations = info.pkey_violations;
  record.qkey_violations = info.qkey_violations;
  record.pkeys.assign(port.pkeys.begin(), port.pkeys.end());
  record.gids = gids_of(adapter);
  return record;
}

}  // namespace

wire::Gid first_gid_of(const subnet::Node& adapter) {
  return gid_with(adapter.ports[1].info.subnet_prefix, adapter.guids[0]);
}

std::vector<wire::Gid> gids_of(const subnet::Node& adapter) {
  std::vector<wire::Gid> gids;
  for (const wire::mad::Guid guid : adapter.guids)
    gids.push_back(guid.value != 0 ? gid_with(adapter.ports[1].info.subnet_prefix, guid) : wire::Gid{});
  return gids;
}

PortRecord port_record(Fabric& fabric, const ServedDevice& device) {
  if (device.adapter) return infiniband_record(fabric.subnet().node(*device.adapter));
  return ethernet_record(device, fabric.link_is_up(device));
}

PortRecord port_record_when_up(const Fabric& fabric, const ServedDevice& device) {
  if (device.adapter) return infiniband_record(fabric.subnet().node(*device.adapter));
  return ethernet_record(device, true);
}

}  // namespace urnic::control
