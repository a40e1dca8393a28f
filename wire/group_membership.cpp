#include "wire/group_membership.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "wire/ethernet.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"
#include "wire/network_headers.hpp"

namespace urnic::wire {
namespace {

using std::chrono::milliseconds;

constexpr std::byte kIgmp{2};
constexpr std::byte kHopByHop{0};
constexpr std::byte kInternetControl{0xC0};  // the precedence of reports (RFC 3376 4)
constexpr std::size_t kIpv4WithOption = kIpv4Bytes + 4;
constexpr std::size_t kHopByHopBytes = 8;
// Router Alert (RFC 2113, RFC 2711), which makes routers look at messages for groups.
constexpr std::array<std::byte, 4> kIpv4Alert{std::byte{0x94}, std::byte{4}, std::byte{0}, std::byte{0}};
constexpr std::array<std::byte, kHopByHopBytes> kIpv6Alert{kIcmpv6,      std::byte{0}, std::byte{5},
                                                           std::byte{2}, std::byte{0}, std::byte{0},
                                                           std::byte{1}, std::byte{0}};

constexpr std::byte kIgmpQuery{0x11};
constexpr std::byte kMldQuery{130};

constexpr Gid kIgmp3Routers{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 224, 0, 0, 22}};
constexpr Gid kIpv4Routers{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 224, 0, 0, 2}};
constexpr Gid kMld2Routers{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x16}};
constexpr Gid kIpv6Routers{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}};

std::size_t address_bytes(bool ipv6) { return ipv6 ? 16 : 4; }

void store_address(std::byte* to, const Gid& gid, bool ipv6) {
  std::memcpy(to, gid.bytes.data() + 16 - address_bytes(ipv6), address_bytes(ipv6));
}

Gid load_address(const std::byte* from, bool ipv6) {
  Gid gid;
  std::memcpy(gid.bytes.data() + 16 - address_bytes(ipv6), from, address_bytes(ipv6));
  if (!ipv6 && gid != Gid{}) gid.bytes[10] = gid.bytes[11] = 0xFF;
  return gid;
}

std::uint16_t ipv6_checksum(const std::byte* addresses, std::span<const std::byte> message) {
  InternetSum sum;
  sum.add({addresses, 32});
  sum.add_be16(static_cast<std::uint16_t>(message.size()));
  sum.add_be16(static_cast<std::uint16_t>(kIcmpv6));
  sum.add(message);
  return sum.checksum();
}

std::uint16_t ipv4_checksum(std::span<const std::byte> bytes) {
  InternetSum sum;
  sum.add(bytes);
  return sum.checksum();
}

void store_ipv4(std::byte* ip, const Gid& source, const Gid& destination, std::size_t message_bytes) {
  ip[0] = std::byte{0x46};
  ip[1] = kInternetControl;
  store_be16(ip + 2, static_cast<std::uint16_t>(kIpv4WithOption + message_bytes));
  store_be16(ip + 6, 0x4000);  // DF
  ip[8] = std::byte{1};        // TTL: messages stay on the link
  ip[9] = kIgmp;
  store_address(ip + 12, source, false);
  store_address(ip + 16, destination, false);
  std::copy(kIpv4Alert.begin(), kIpv4Alert.end(), ip + kIpv4Bytes);
  const std::uint16_t sum = ipv4_checksum({ip, kIpv4WithOption});
  std::memcpy(ip + 10, &sum, sizeof sum);
}

void store_ipv6(std::byte* ip, const Gid& source, const Gid& destination, std::size_t message_bytes) {
  ip[0] = std::byte{0x60};
  store_be16(ip + 4, static_cast<std::uint16_t>(kHopByHopBytes + message_bytes));
  ip[6] = kHopByHop;
  ip[7] = std::byte{1};
  store_address(ip + 8, source, true);
  store_address(ip + 24, destination, true);
  std::copy(kIpv6Alert.begin(), kIpv6Alert.end(), ip + kIpv6Bytes);
}

// The frame around a message whose checksum, at its third byte, is 0.
std::vector<std::byte> frame_around(std::span<std::byte> message, const MacAddress& source_mac,
                                    const Gid& source, const Gid& destination) {
  const bool ipv6 = !is_ipv4_mapped(destination);
  const std::size_t headers = kEthernetBytes + (ipv6 ? kIpv6Bytes + kHopByHopBytes : kIpv4WithOption);
  std::vector<std::byte> frame(headers + message.size());
  store_ethernet(frame.data(), multicast_mac(destination), source_mac,
                 ipv6 ? ether_type::kIpv6 : ether_type::kIpv4);
  std::byte* const ip = frame.data() + kEthernetBytes;
  (ipv6 ? store_ipv6 : store_ipv4)(ip, source, destination, message.size());
  const std::uint16_t sum = ipv6 ? ipv6_checksum(ip + 8, message) : ipv4_checksum(message);
  std::memcpy(message.data() + 2, &sum, sizeof sum);
  std::copy(message.begin(), message.end(), frame.begin() + static_cast<std::ptrdiff_t>(headers));
  return frame;
}

// Values above `linear` have a mantissa of `bits` bits and an exponent (RFC 3376 4.1.1, RFC 3810 5.1.3).
std::uint64_t time_of_code(std::uint32_t code, std::uint32_t linear, unsigned bits) {
  if (code < linear) return code;
  const std::uint64_t mantissa = (code & ((1u << bits) - 1)) | 1u << bits;
  return mantissa << ((code >> bits & 7) + 3);
}

std::optional<MembershipQuery> parse_igmp(std::span<const std::byte> message) {
  if (message.size() < 8 || message[0] != kIgmpQuery || ipv4_checksum(message) != 0) return {};
  MembershipQuery query;
  const auto code = std::to_integer<std::uint32_t>(message[1]);
  query.group = load_address(message.data() + 4, false);
  if (message.size() < 12) {
    query.version = code == 0 ? MembershipVersion::igmp1 : MembershipVersion::igmp2_mld1;
    query.response_time = milliseconds(code == 0 ? 10'000 : 100 * code);  // RFC 2236 4
  } else {
    query.response_time = milliseconds(100 * time_of_code(code, 128, 4));
  }
  return query;
}

std::optional<MembershipQuery> parse_mld(const std::byte* addresses, std::span<const std::byte> message) {
  if (message.size() < 24 || message[0] != kMldQuery || ipv6_checksum(addresses, message) != 0) return {};
  MembershipQuery query{.ipv6 = true, .group = load_address(message.data() + 8, true)};
  const std::uint32_t code = load_be16(message.data() + 4);
  const bool old = message.size() < 28;
  if (old) query.version = MembershipVersion::igmp2_mld1;
  query.response_time = milliseconds(old ? code : time_of_code(code, 0x8000, 12));
  return query;
}

std::optional<MembershipQuery> parse_ipv4(std::span<const std::byte> packet) {
  if (packet.size() < kIpv4Bytes || (packet[0] & std::byte{0xF0}) != std::byte{0x40}) return {};
  const std::size_t header = 4 * std::to_integer<std::size_t>(packet[0] & std::byte{0x0F});
  const std::size_t length = load_be16(packet.data() + 2);
  const bool fragment = (load_be16(packet.data() + 6) & 0x3FFF) != 0;
  if (packet[9] != kIgmp || fragment || header < kIpv4Bytes || length < header || length > packet.size())
    return {};
  return parse_igmp(packet.subspan(header, length - header));
}

// Link-local source and hop limit 1 show that a router of this link asks (RFC 3810 6.2).
std::optional<MembershipQuery> parse_ipv6(std::span<const std::byte> packet) {
  if (packet.size() < kIpv6Bytes + kHopByHopBytes || (packet[0] & std::byte{0xF0}) != std::byte{0x60})
    return {};
  const std::size_t length = load_be16(packet.data() + 4);
  const bool of_link = packet[8] == std::byte{0xFE} && (packet[9] & std::byte{0xC0}) == std::byte{0x80};
  if (packet[6] != kHopByHop || packet[7] != std::byte{1} || !of_link || length > packet.size() - kIpv6Bytes)
    return {};
  const std::size_t options = 8 * (1 + std::to_integer<std::size_t>(packet[kIpv6Bytes + 1]));
  if (packet[kIpv6Bytes] != kIcmpv6 || options > length) return {};
  return parse_mld(packet.data() + 8, packet.subspan(kIpv6Bytes + options, length - options));
}

}  // namespace

std::optional<MembershipQuery> parse_membership_query(std::span<const std::byte> frame) {
  if (frame.size() < kEthernetBytes) return {};
  const std::uint16_t type = load_be16(frame.data() + kEtherTypeOffset);
  if (type == ether_type::kIpv4) return parse_ipv4(frame.subspan(kEthernetBytes));
  if (type == ether_type::kIpv6) return parse_ipv6(frame.subspan(kEthernetBytes));
  return {};
}

std::vector<std::byte> encode_membership_report(const MacAddress& source_mac, const Gid& source,
                                                std::span<const MembershipRecord> records) {
  constexpr std::size_t kHeaderBytes = 8;
  constexpr std::size_t kRecordBytes = 4;
  const bool ipv6 = !is_ipv4_mapped(records.front().group);
  std::vector<std::byte> message(kHeaderBytes + records.size() * (kRecordBytes + address_bytes(ipv6)));
  message[0] = ipv6 ? std::byte{143} : std::byte{0x22};
  store_be16(message.data() + 6, static_cast<std::uint16_t>(records.size()));
  std::byte* at = message.data() + kHeaderBytes;
  for (const MembershipRecord& record : records) {
    at[0] = static_cast<std::byte>(record.change);
    store_address(at + kRecordBytes, record.group, ipv6);
    at += kRecordBytes + address_bytes(ipv6);
  }
  return frame_around(message, source_mac, source, ipv6 ? kMld2Routers : kIgmp3Routers);
}

std::vector<std::byte> encode_old_membership_report(const MacAddress& source_mac, const Gid& source,
                                                    const MembershipRecord& record,
                                                    MembershipVersion version) {
  const bool ipv6 = !is_ipv4_mapped(record.group);
  const bool leaves = record.change == MembershipChange::leaves;
  if (leaves && version == MembershipVersion::igmp1) return {};
  std::vector<std::byte> message(ipv6 ? 24 : 8);
  if (ipv6) {
    message[0] = leaves ? std::byte{132} : std::byte{131};
  } else {
    const std::byte report = version == MembershipVersion::igmp1 ? std::byte{0x12} : std::byte{0x16};
    message[0] = leaves ? std::byte{0x17} : report;
  }
  store_address(message.data() + (ipv6 ? 8 : 4), record.group, ipv6);
  const Gid& routers = ipv6 ? kIpv6Routers : kIpv4Routers;
  return frame_around(message, source_mac, source, leaves ? routers : record.group);
}

}  // namespace urnic::wire
