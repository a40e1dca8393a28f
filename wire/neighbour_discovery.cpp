#include "wire/neighbour_discovery.hpp"

#include <algorithm>
#include <cstring>

#include "wire/ethernet.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"
#include "wire/network_headers.hpp"

namespace urnic::wire {
namespace {

constexpr std::byte kHopLimit{255};  // shows that no router forwarded the packet (RFC 4861 3.1)
constexpr std::size_t kIcmp = kEthernetBytes + kIpv6Bytes;
constexpr std::size_t kFlags = kIcmp + 4;
constexpr std::size_t kTarget = kIcmp + 8;
constexpr std::size_t kOptions = kTarget + 16;
constexpr std::size_t kOptionUnit = 8;
constexpr std::uint32_t kSolicited = 0x40000000;
constexpr std::uint32_t kOverride = 0x20000000;

// Of the ICMPv6 message `icmp` behind its IPv6 header (RFC 4443 2.3); 0 if the message holds its right one.
std::uint16_t checksum(std::span<const std::byte> icmp) {
  InternetSum sum;
  sum.add({icmp.data() - 32, 32});  // both addresses
  sum.add_be16(static_cast<std::uint16_t>(icmp.size()));
  sum.add_be16(static_cast<std::uint16_t>(kIcmpv6));
  sum.add(icmp);
  return sum.checksum();
}

std::byte option_of(NeighbourMessageKind kind) {
  return kind == NeighbourMessageKind::solicitation ? std::byte{1} : std::byte{2};
}

// False: an option without length, or longer than the message.
bool parse_options(std::span<const std::byte> options, NeighbourMessage& message) {
  while (!options.empty()) {
    if (options.size() < kOptionUnit) return false;
    const std::size_t length = kOptionUnit * std::to_integer<std::size_t>(options[1]);
    if (length == 0 || length > options.size()) return false;
    if (options[0] == option_of(message.kind) && length == kOptionUnit)
      message.link_layer = load_mac(options.data() + 2);
    options = options.subspan(length);
  }
  return true;
}

// What RFC 4861 7.1.1 and 7.1.2 ask beyond the message's form.
bool is_consistent(const NeighbourMessage& message) {
  if (is_multicast(message.target)) return false;
  if (message.kind == NeighbourMessageKind::advertisement)
    return !(is_multicast(message.destination) && message.solicited);
  if (message.source != Gid{}) return true;
  return message.destination == solicited_node_group(message.target) && !message.link_layer;
}

// The ICMPv6 message; empty: the frame is another packet.
std::span<const std::byte> find_message(std::span<const std::byte> frame) {
  if (frame.size() < kOptions) return {};
  const std::byte* const ip = frame.data() + kEthernetBytes;
  if (load_be16(frame.data() + kEtherTypeOffset) != ether_type::kIpv6) return {};
  if ((ip[0] & std::byte{0xF0}) != std::byte{0x60} || ip[6] != kIcmpv6 || ip[7] != kHopLimit) return {};
  const std::size_t length = load_be16(ip + 4);
  if (length < kOptions - kIcmp || length > frame.size() - kIcmp) return {};
  return frame.subspan(kIcmp, length);
}

}  // namespace

Gid solicited_node_group(const Gid& address) {
  Gid group{{0xFF, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF}};
  std::copy(address.bytes.begin() + 13, address.bytes.end(), group.bytes.begin() + 13);
  return group;
}

NeighbourFrame encode_neighbour(const NeighbourMessage& message) {
  NeighbourFrame frame{};
  store_ethernet(frame.data(), message.destination_mac, message.source_mac, ether_type::kIpv6);
  std::byte* const ip = frame.data() + kEthernetBytes;
  ip[0] = std::byte{0x60};
  store_be16(ip + 4, kNeighbourFrameBytes - kIcmp);
  ip[6] = kIcmpv6;
  ip[7] = kHopLimit;
  std::memcpy(ip + 8, message.source.bytes.data(), 16);
  std::memcpy(ip + 24, message.destination.bytes.data(), 16);
  frame[kIcmp] = static_cast<std::byte>(message.kind);
  store_be32(frame.data() + kFlags,
             (message.solicited ? kSolicited : 0) | (message.overrides ? kOverride : 0));
  std::memcpy(frame.data() + kTarget, message.target.bytes.data(), 16);
  frame[kOptions] = option_of(message.kind);
  frame[kOptions + 1] = std::byte{1};
  store_mac(frame.data() + kOptions + 2, *message.link_layer);
  const std::uint16_t sum = checksum(std::span(frame).subspan(kIcmp));
  std::memcpy(frame.data() + kIcmp + 2, &sum, sizeof sum);
  return frame;
}

std::optional<NeighbourMessage> parse_neighbour(std::span<const std::byte> frame) {
  const std::span<const std::byte> icmp = find_message(frame);
  if (icmp.empty() || icmp[1] != std::byte{0}) return {};
  NeighbourMessage message;
  message.kind = static_cast<NeighbourMessageKind>(icmp[0]);
  if (message.kind != NeighbourMessageKind::solicitation &&
      message.kind != NeighbourMessageKind::advertisement)
    return {};
  if (checksum(icmp) != 0) return {};
  message.destination_mac = load_mac(frame.data());
  message.source_mac = load_mac(frame.data() + kMacBytes);
  std::memcpy(message.source.bytes.data(), frame.data() + kEthernetBytes + 8, 16);
  std::memcpy(message.destination.bytes.data(), frame.data() + kEthernetBytes + 24, 16);
  std::memcpy(message.target.bytes.data(), frame.data() + kTarget, 16);
  if (message.kind == NeighbourMessageKind::advertisement) {
    const std::uint32_t flags = load_be32(frame.data() + kFlags);
    message.solicited = (flags & kSolicited) != 0;
    message.overrides = (flags & kOverride) != 0;
  }
  if (!parse_options(icmp.subspan(kOptions - kIcmp), message) || !is_consistent(message)) return {};
  return message;
}

}  // namespace urnic::wire
