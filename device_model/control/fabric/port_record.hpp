// What there is to say of a device's port, now: sysfs, netlink and query_port read it here.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/link_layer.hpp"
#include "device_model/subnet/link_ability.hpp"
#include "wire/identifiers.hpp"

namespace urnic::subnet {
struct Node;
}

namespace urnic::control {

struct PortRecord {
  LinkLayer link_layer = LinkLayer::ethernet;
  std::uint8_t state = 0;           // an ibv_port_state: 1 Down, 2 Init, 3 Armed, 4 Active
  std::uint8_t physical_state = 0;  // IBTA 14.2.5.6
  std::uint32_t capabilities = 0;   // bits of ibv_port_cap_flags
  std::uint16_t lid = 0;            // 0 on Ethernet, here; sysfs shows a number of its own
  std::uint8_t lmc = 0;
  std::uint16_t manager_lid = 0;
  std::uint8_t manager_sl = 0;
  std::uint8_t subnet_timeout = 0;
  std::uint32_t active_mtu = 0;      // an ibv_mtu
  std::uint32_t largest_mtu = 0;     // the same
  subnet::LinkRate rate;             // of an Ethernet port: 100 Gbit/s, whatever the processors reach
  std::vector<std::uint16_t> pkeys;  // by index
  std::vector<wire::Gid> gids;       // by index; zeros: an empty place; beyond the end all are empty
  std::uint8_t init_type_reply = 0;
  std::uint16_t pkey_violations = 0;
  std::uint16_t qkey_violations = 0;
};

// The GIDs of an adapter's port, by index; zeros: an empty place.
std::vector<wire::Gid> gids_of(const subnet::Node& adapter);
// The first of them, which every adapter has.
wire::Gid first_gid_of(const subnet::Node& adapter);

// While the engine of an Ethernet device runs, this waits for the end of its round.
PortRecord port_record(Fabric& fabric, const ServedDevice& device);
// The same, without asking the engine: an Ethernet device's link counts as up.
PortRecord port_record_when_up(const Fabric& fabric, const ServedDevice& device);

}  // namespace urnic::control
