// Subnet administration (IBTA 15.2): the subnet manager's records, which it is asked for and given by
// datagrams to queue pair 1. A request and its answer have one record each here; answers with several are
// messages of RMPP.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/identifiers.hpp"
#include "wire/mad/identifiers.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/service_id.hpp"

namespace urnic::wire::mad {

inline constexpr std::uint8_t kAdministrationClassVersion = 2;

// IBTA 15.2.5.
enum class RecordAttribute : std::uint16_t { path = 0x0035, multicast_member = 0x0038 };

// The component mask of a request: which members of its record it gives (IBTA 15.2.3). Bits of several
// components are or-ed.
using ComponentMask = std::uint64_t;

// A selector of a record: the value is exactly this (IBTA 15.2.5.16).
inline constexpr std::uint8_t kExactly = 2;

// A way between two ports (IBTA 15.2.5.16). Of `mtu`, `rate` and `packet_lifetime` the codes are those of
// PortInfo, of a static rate, and of a timeout; each has a selector, such as kExactly.
struct PathRecord {
  static constexpr RecordAttribute kAttribute = RecordAttribute::path;
  ServiceId service;
  Gid destination;
  Gid source;
  Lid destination_lid;
  Lid source_lid;
  bool is_raw = false;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t hop_limit = 0;
  std::uint8_t traffic_class = 0;
  bool is_reversible = false;
  std::uint8_t paths = 0;  // 7 bits: how many are asked for
  Pkey pkey;
  std::uint16_t quality_class = 0;  // 12 bits
  std::uint8_t service_level = 0;   // 4 bits
  std::uint8_t mtu_selector = 0;    // 2 bits
  std::uint8_t mtu = 0;             // 6 bits
  std::uint8_t rate_selector = 0;
  std::uint8_t rate = 0;
  std::uint8_t packet_lifetime_selector = 0;
  std::uint8_t packet_lifetime = 0;
  std::uint8_t preference = 0;
  friend bool operator==(const PathRecord&, const PathRecord&) = default;
};
inline constexpr std::size_t kPathRecordBytes = 64;

namespace path_component {
inline constexpr ComponentMask kService = 3;  // both halves of the service id
inline constexpr ComponentMask kDestination = 1 << 2;
inline constexpr ComponentMask kSource = 1 << 3;
inline constexpr ComponentMask kTrafficClass = 1 << 10;
inline constexpr ComponentMask kReversible = 1 << 11;
inline constexpr ComponentMask kPaths = 1 << 12;
inline constexpr ComponentMask kPkey = 1 << 13;
inline constexpr ComponentMask kQualityClass = 1 << 14;
}  // namespace path_component

// Bits of MulticastMemberRecord::join_state: what the port is in the group (IBTA 15.2.5.17).
namespace join_state {
inline constexpr std::uint8_t kFullMember = 1;
inline constexpr std::uint8_t kSendOnlyFullMember = 8;
}  // namespace join_state

// A port's membership of a multicast group. A Set joins, a Delete leaves.
struct MulticastMemberRecord {
  static constexpr RecordAttribute kAttribute = RecordAttribute::multicast_member;
  Gid group;
  Gid port;
  Qkey qkey;
  Lid group_lid;
  std::uint8_t mtu_selector = 0;
  std::uint8_t mtu = 0;
  std::uint8_t traffic_class = 0;
  Pkey pkey;
  std::uint8_t rate_selector = 0;
  std::uint8_t rate = 0;
  std::uint8_t packet_lifetime_selector = 0;
  std::uint8_t packet_lifetime = 0;
  std::uint8_t service_level = 0;  // 4 bits
  std::uint32_t flow_label = 0;    // 20 bits
  std::uint8_t hop_limit = 0;
  std::uint8_t scope = 0;       // 4 bits
  std::uint8_t join_state = 0;  // 4 bits
  bool joins_for_other = false;
  friend bool operator==(const MulticastMemberRecord&, const MulticastMemberRecord&) = default;
};

namespace member_component {
inline constexpr ComponentMask kGroup = 1 << 0;
inline constexpr ComponentMask kPort = 1 << 1;
inline constexpr ComponentMask kQkey = 1 << 2;
inline constexpr ComponentMask kMtuSelector = 1 << 4;
inline constexpr ComponentMask kMtu = 1 << 5;
inline constexpr ComponentMask kTrafficClass = 1 << 6;
inline constexpr ComponentMask kPkey = 1 << 7;
inline constexpr ComponentMask kRateSelector = 1 << 8;
inline constexpr ComponentMask kRate = 1 << 9;
inline constexpr ComponentMask kServiceLevel = 1 << 12;
inline constexpr ComponentMask kFlowLabel = 1 << 13;
inline constexpr ComponentMask kHopLimit = 1 << 14;
inline constexpr ComponentMask kJoinState = 1 << 16;
}  // namespace member_component

// One of the two types above.
template <class Record>
concept AdministrationRecord = requires {
  { Record::kAttribute } -> std::same_as<const RecordAttribute&>;
};

// A request: `components` are the members of `record` that count. Of the header only method and transaction
// are read.
template <AdministrationRecord Record>
Mad encode_request(const MadHeader& header, ComponentMask components, const Record& record);

// The record of a datagram whose header says that it has one; never fails.
template <AdministrationRecord Record>
Record decode_record(const Mad& mad);

// The same record as programs give it to rdma_cm and get it from there, without a datagram around it.
std::array<std::byte, kPathRecordBytes> encode_path(const PathRecord& record);
PathRecord decode_path(std::span<const std::byte, kPathRecordBytes> bytes);

}  // namespace urnic::wire::mad
