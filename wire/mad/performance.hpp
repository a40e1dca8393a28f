// Performance management (IBTA 16.1): reading a port's counters over the wire, as perfquery does.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/identifiers.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/timeout_code.hpp"

namespace urnic::wire::mad {

inline constexpr std::uint8_t kPerformanceClassVersion = 1;

// IBTA 16.1.3, 16.1.4.
enum class PerformanceAttribute : std::uint16_t {
  class_port_info = 0x0001,
  port_counters = 0x0012,
  port_counters_extended = 0x001D,
};

// Where an agent wants to be asked instead (redirect), or sends its traps to (IBTA 13.4.8.1). All zero: none.
struct ClassPortAddress {
  Gid gid;
  std::uint8_t traffic_class = 0;
  std::uint8_t service_level = 0;  // 4 bits
  std::uint32_t flow_label = 0;    // 20 bits
  Lid lid;
  Pkey pkey{0};
  std::uint8_t hop_limit = 0;  // trap only
  Qpn qpn;
  Qkey qkey;
  friend bool operator==(const ClassPortAddress&, const ClassPortAddress&) = default;
};

// IBTA 13.4.8.1, 16.1.3.
struct ClassPortInfo {
  static constexpr PerformanceAttribute kAttribute = PerformanceAttribute::class_port_info;
  std::uint8_t base_version = kBaseVersion;
  std::uint8_t class_version = kPerformanceClassVersion;
  std::uint16_t capability_mask = 0;   // kExtendedWidthSupported and others
  std::uint32_t capability_mask2 = 0;  // 27 bits
  TimeoutCode response_time;           // the longest from request to answer
  ClassPortAddress redirect;
  ClassPortAddress trap;
  friend bool operator==(const ClassPortInfo&, const ClassPortInfo&) = default;
};

// In ClassPortInfo::capability_mask: PortCountersExtended is there, with its unicast and multicast counters.
inline constexpr std::uint16_t kExtendedWidthSupported = 1 << 9;

// Counters stop at their largest value (IBTA 16.1.3.5). A request has the selection only: `counter_select` is
// the set of counters that a Set writes.
struct PortCounters {
  static constexpr PerformanceAttribute kAttribute = PerformanceAttribute::port_counters;
  std::uint8_t port_select = 0;
  std::uint16_t counter_select = 0;
  std::uint16_t symbol_errors = 0;
  std::uint8_t link_error_recoveries = 0;
  std::uint8_t link_downed = 0;
  std::uint16_t receive_errors = 0;
  std::uint16_t receive_remote_physical_errors = 0;
  std::uint16_t receive_switch_relay_errors = 0;
  std::uint16_t transmit_discards = 0;
  std::uint8_t transmit_constraint_errors = 0;
  std::uint8_t receive_constraint_errors = 0;
  std::uint8_t counter_select2 = 0;
  std::uint8_t local_link_integrity_errors = 0;      // 4 bits
  std::uint8_t excessive_buffer_overrun_errors = 0;  // 4 bits
  std::uint16_t qp1_dropped = 0;
  std::uint16_t vl15_dropped = 0;
  std::uint32_t transmit_data = 0;  // in 4-byte words, as all data counters
  std::uint32_t receive_data = 0;
  std::uint32_t transmit_packets = 0;
  std::uint32_t receive_packets = 0;
  std::uint32_t transmit_wait = 0;
  friend bool operator==(const PortCounters&, const PortCounters&) = default;
};

// IBTA 16.1.4.
struct PortCountersExtended {
  static constexpr PerformanceAttribute kAttribute = PerformanceAttribute::port_counters_extended;
  std::uint8_t port_select = 0;
  std::uint16_t counter_select = 0;
  std::uint64_t transmit_data = 0;  // in 4-byte words
  std::uint64_t receive_data = 0;
  std::uint64_t transmit_packets = 0;
  std::uint64_t receive_packets = 0;
  std::uint64_t unicast_transmit_packets = 0;
  std::uint64_t unicast_receive_packets = 0;
  std::uint64_t multicast_transmit_packets = 0;
  std::uint64_t multicast_receive_packets = 0;
  friend bool operator==(const PortCountersExtended&, const PortCountersExtended&) = default;
};

// One of the three types above.
template <class Attribute>
concept PerformanceAttributeType = requires {
  { Attribute::kAttribute } -> std::same_as<const PerformanceAttribute&>;
};

// Reads a Get, Set or GetResp of `Attribute`. Errors: all of MadError. `attribute` is written only if there
// is none. Method, status and transaction are in the MadHeader.
template <PerformanceAttributeType Attribute>
MadError decode(std::span<const std::byte> mad, Attribute& attribute);

// The datagram with `attribute`. `header` gives method, status, transaction and attribute modifier; its
// class, versions and attribute id are not read.
template <PerformanceAttributeType Attribute>
Mad encode(const Attribute& attribute, const MadHeader& header);

}  // namespace urnic::wire::mad
