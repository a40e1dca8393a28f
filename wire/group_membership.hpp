// Messages by which hosts tell multicast routers and snooping switches their groups: IGMP (RFC 1112, 2236,
// 3376) and MLD (RFC 2710, 3810), in frames of their own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/identifiers.hpp"

namespace urnic::wire {

// MLDv1 is IGMPv2 for IPv6, and MLDv2 is IGMPv3 (RFC 2710 1, RFC 3810 1).
enum class MembershipVersion : std::uint8_t { igmp1 = 1, igmp2_mld1 = 2, igmp3_mld2 = 3 };

struct MembershipQuery {
  bool ipv6 = false;
  MembershipVersion version = MembershipVersion::igmp3_mld2;
  Gid group;  // unspecified (zero): all groups
  std::chrono::nanoseconds response_time{0};
};

// Record types of IGMPv3 and MLDv2 (RFC 3376 4.2.12) with an empty list of sources. Older versions report
// `is_member` and `joins` alike.
enum class MembershipChange : std::uint8_t { is_member = 2, leaves = 3, joins = 4 };

struct MembershipRecord {
  MembershipChange change = MembershipChange::is_member;
  Gid group;
};

// Records that fit into one report on every Ethernet.
inline constexpr std::size_t kMostMembershipRecords = 64;

// Empty: another packet, or one with a wrong checksum. Nothing in `frame` is trusted. Sources are not looked
// at: a question for some sources is one for the group.
std::optional<MembershipQuery> parse_membership_query(std::span<const std::byte> frame);

// A report in IGMPv3 or MLDv2. All groups are of one family, and `source` is of that family too: for IPv6, a
// link-local address.
std::vector<std::byte> encode_membership_report(const MacAddress& source_mac, const Gid& source,
                                                std::span<const MembershipRecord> records);

// The same for one group in an older version; empty: the version has no such message.
std::vector<std::byte> encode_old_membership_report(const MacAddress& source_mac, const Gid& source,
                                                    const MembershipRecord& record,
                                                    MembershipVersion version);

}  // namespace urnic::wire
