// Where management datagrams and connections lead.
#pragma once

#include <compare>
#include <cstdint>

#include "wire/identifiers.hpp"
#include "wire/local_identifier.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::cm {

// A device of the process, by the number that the host gave it. All have one port, number 1.
struct DeviceIndex {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(DeviceIndex, DeviceIndex) = default;
};

// Where a MAD goes to or came from, as the device sees it. The address of a MAD that arrived is that of the
// answer to it.
struct GsiAddress {
  wire::Gid own;
  wire::Gid peer;
  std::uint8_t hop_limit = 64;
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;  // 20 bits
  // On RoCE the priority in the tag of the VLAN of `own`, if it belongs to one.
  std::uint8_t service_level = 0;
  wire::Lid peer_lid = {};  // on InfiniBand, where the GIDs may be empty
  wire::Pkey pkey = {};     // the partition, whatever the device is in it
  friend bool operator==(const GsiAddress&, const GsiAddress&) = default;
};

// The path of a connection's packets, from here to the peer: what Linux takes from a path record.
struct Path {
  wire::Gid own;
  wire::Gid peer;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 64;
  std::uint8_t service_level = 0;
  wire::Lid own_lid;  // on InfiniBand
  wire::Lid peer_lid;
  std::uint8_t rate = 0;  // as in a path record; 0: not known
  wire::mad::MtuCode mtu = wire::mad::MtuCode::bytes_1024;
  wire::mad::TimeoutCode packet_lifetime{16};
  wire::Pkey pkey;
};

constexpr GsiAddress gsi_address(const Path& path) {
  return {path.own,        path.peer,          path.hop_limit, path.traffic_class,
          path.flow_label, path.service_level, path.peer_lid,  path.pkey};
}

}  // namespace urnic::cm
