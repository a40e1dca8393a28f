// The attributes of subnet management (IBTA 14.2.5) that have fields. The others are tables: see
// subnet_tables.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "wire/mad/identifiers.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::wire::mad {

enum class NodeType : std::uint8_t { channel_adapter = 1, switch_node = 2, router = 3 };

struct NodeInfo {
  std::uint8_t base_version = kBaseVersion;
  std::uint8_t class_version = kSubnetClassVersion;
  NodeType type{};
  std::uint8_t ports = 0;  // without a switch's port 0
  Guid system_guid;
  Guid node_guid;
  Guid port_guid;
  std::uint16_t partition_capacity = 0;
  std::uint16_t device_id = 0;
  std::uint32_t revision = 0;
  std::uint8_t local_port = 0;  // by which the question came in
  std::uint32_t vendor_id = 0;  // 24 bits
  friend bool operator==(const NodeInfo&, const NodeInfo&) = default;
};

struct SwitchInfo {
  std::uint16_t linear_capacity = 0;  // LIDs
  std::uint16_t random_capacity = 0;
  std::uint16_t multicast_capacity = 0;
  std::uint16_t linear_top = 0;  // the largest LID that has a route
  std::uint8_t default_port = 0;
  std::uint8_t default_multicast_primary_port = 0;
  std::uint8_t default_multicast_not_primary_port = 0;
  std::uint8_t life_time = 0;  // 5 bits
  bool port_state_change = false;
  std::uint8_t optimised_sl_to_vl = 0;  // 2 bits
  std::uint16_t lids_per_port = 0;
  std::uint16_t partition_enforcement_capacity = 0;
  bool enforces_inbound = false;
  bool enforces_outbound = false;
  bool filters_raw_inbound = false;
  bool filters_raw_outbound = false;
  bool has_enhanced_port0 = false;
  std::uint16_t multicast_top = 0;
  friend bool operator==(const SwitchInfo&, const SwitchInfo&) = default;
};

// A port's logical state. A Set with `no_change` leaves it.
enum class PortState : std::uint8_t { no_change = 0, down = 1, initialize = 2, armed = 3, active = 4 };

enum class PhysicalState : std::uint8_t {
  no_change = 0,
  sleep = 1,
  polling = 2,
  disabled = 3,
  training = 4,
  link_up = 5,
  error_recovery = 6,
  phy_test = 7,
};

// Bits of PortInfo's capability mask.
inline constexpr std::uint32_t kIsSubnetManager = 1u << 1;
inline constexpr std::uint32_t kHasTraps = 1u << 3;
inline constexpr std::uint32_t kHasSlMapping = 1u << 6;
inline constexpr std::uint32_t kHasSystemImageGuid = 1u << 11;
inline constexpr std::uint32_t kHasExtendedSpeeds = 1u << 14;
inline constexpr std::uint32_t kHasCommunicationManagement = 1u << 16;
inline constexpr std::uint32_t kHasClientReregistration = 1u << 25;

struct PortInfo {
  std::uint64_t m_key = 0;
  std::uint64_t subnet_prefix = 0;
  Lid lid;
  Lid manager_lid;
  std::uint32_t capability_mask = 0;
  std::uint16_t diagnostic_code = 0;
  std::uint16_t m_key_lease = 0;  // seconds
  std::uint8_t local_port = 0;
  std::uint8_t width_enabled = 0;
  std::uint8_t width_supported = 0;
  std::uint8_t width_active = 0;
  std::uint8_t speed_supported = 0;
  PortState state{};
  PhysicalState physical_state{};
  std::uint8_t down_default = 0;
  std::uint8_t m_key_protection = 0;
  std::uint8_t lmc = 0;
  std::uint8_t speed_active = 0;
  std::uint8_t speed_enabled = 0;
  std::uint8_t neighbor_mtu = 0;  // code: 1 is 256 bytes, 5 is 4096
  std::uint8_t manager_sl = 0;
  std::uint8_t vl_capacity = 0;  // code: 1 is VL 0, 4 is VL 0 to 7
  std::uint8_t init_type = 0;
  std::uint8_t vl_high_limit = 0;
  std::uint8_t vl_arbitration_high_capacity = 0;
  std::uint8_t vl_arbitration_low_capacity = 0;
  std::uint8_t init_reply = 0;
  std::uint8_t mtu_capacity = 0;  // code
  std::uint8_t vl_stall_count = 0;
  std::uint8_t head_of_queue_life = 0;
  std::uint8_t operational_vls = 0;  // code
  bool enforces_inbound = false;
  bool enforces_outbound = false;
  bool filters_raw_inbound = false;
  bool filters_raw_outbound = false;
  std::uint16_t m_key_violations = 0;
  std::uint16_t pkey_violations = 0;
  std::uint16_t qkey_violations = 0;
  std::uint8_t guid_capacity = 0;
  bool client_reregister = false;
  bool suppresses_multicast_pkey_traps = false;
  std::uint8_t subnet_timeout = 0;
  std::uint8_t response_time = 0;
  std::uint8_t local_physical_errors = 0;
  std::uint8_t overrun_errors = 0;
  std::uint16_t most_credits_hint = 0;
  std::uint32_t link_round_trip = 0;  // 24 bits
  std::uint16_t capability_mask2 = 0;
  std::uint8_t extended_speed_active = 0;
  std::uint8_t extended_speed_supported = 0;
  std::uint8_t extended_speed_enabled = 0;  // 5 bits
  friend bool operator==(const PortInfo&, const PortInfo&) = default;
};

enum class ManagerState : std::uint8_t { not_active = 0, discovering = 1, standby = 2, master = 3 };

struct SmInfo {
  Guid guid;
  std::uint64_t sm_key = 0;
  std::uint32_t activity = 0;
  std::uint8_t priority = 0;  // 4 bits
  ManagerState state{};
  friend bool operator==(const SmInfo&, const SmInfo&) = default;
};

// A generic notice (IBTA 13.4.8.2), with its details as bytes.
struct Notice {
  bool is_generic = true;
  std::uint8_t type = 0;       // 7 bits: 0 fatal, 1 urgent, 2 security, 3 of subnet management, 4 information
  std::uint32_t producer = 0;  // 24 bits: a NodeType
  std::uint16_t trap = 0;
  Lid issuer;
  bool toggle = false;
  std::uint16_t count = 0;  // 15 bits
  std::array<std::byte, 54> details{};
  friend bool operator==(const Notice&, const Notice&) = default;
};

template <class Attribute>
Attribute decode_data(const SmpData& data);
template <class Attribute>
SmpData encode_data(const Attribute& attribute);

}  // namespace urnic::wire::mad
