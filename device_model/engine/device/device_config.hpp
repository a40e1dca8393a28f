// What a device is made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device_model/memory/number_seed.hpp"
#include "wire/frame.hpp"
#include "wire/identifiers.hpp"
#include "wire/local_identifier.hpp"
#include "wire/network_headers.hpp"

namespace urnic::engine {

// A GID of the device.
struct LocalGid {
  wire::Gid gid;
  std::uint16_t vlan = 0;  // its packets have the tag of this VLAN, 1 to 4094; 0: none
};

// The LIDs of an InfiniBand port: the 2^lmc from `base` on (IBTA 4.1.3). An Ethernet port has none.
struct LocalLids {
  wire::Lid base;
  std::uint8_t lmc = 0;

  // The LID with the path bits of one that the port had before (IBTA 7.11.1).
  wire::Lid moved(wire::Lid before) const {
    const unsigned path_bits = before.value & ((1u << lmc) - 1);
    return {static_cast<std::uint16_t>(base.value | path_bits)};
  }
  friend bool operator==(const LocalLids&, const LocalLids&) = default;
};

struct DeviceConfig {
  std::string name;  // urnic0
  wire::MacAddress mac;
  wire::LinkLayer link_layer = wire::LinkLayer::ethernet;
  std::vector<LocalGid> gids;
  std::uint32_t max_qp = 65536;
  std::uint32_t max_memory_keys = 1u << 20;
  std::uint32_t max_address_handles = 1u << 15;
  std::uint32_t max_srq = 65536;
  std::uint32_t number = 0;  // in configuration order
  wire::Icrc icrc = wire::Icrc::owed;
  memory::NumberSeed numbers;  // where its QPNs, keys and SRQ numbers begin
};

}  // namespace urnic::engine
