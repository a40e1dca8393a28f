#include "device_model/link/frames/tcp_layout.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {
namespace {

constexpr std::size_t kTcpBytes = 20;  // without options
constexpr std::size_t kTcpChecksum = 16;
constexpr std::size_t kIpv4Checksum = 10;
constexpr std::uint16_t kIpv4Type = 0x0800;
constexpr std::uint16_t kIpv6Type = 0x86DD;
constexpr std::uint16_t kVlanType = 0x8100;
constexpr std::size_t kVlanBytes = 4;
constexpr std::byte kTcp{6};
constexpr std::uint16_t kFragment = 0x3FFF;  // More Fragments, and the offset

// The offset of what follows the IP header; 0: no whole IP packet of TCP that ends with the frame.
std::size_t behind_ipv4(std::span<const std::byte> frame, std::size_t at) {
  if (frame.size() < at + wire::kIpv4Bytes) return 0;
  const auto* ip = frame.data() + at;
  const auto first = std::to_integer<unsigned>(ip[0]);
  const std::size_t header = (first & 0xF) * std::size_t{4};
  if (first >> 4 != 4 || header < wire::kIpv4Bytes || ip[9] != kTcp) return 0;
  if ((wire::load_be16(ip + 6) & kFragment) != 0 || wire::load_be16(ip + 2) != frame.size() - at) return 0;
  return at + header;
}

std::size_t behind_ipv6(std::span<const std::byte> frame, std::size_t at) {
  if (frame.size() < at + wire::kIpv6Bytes) return 0;
  const auto* ip = frame.data() + at;
  if (std::to_integer<unsigned>(ip[0]) >> 4 != 6 || ip[6] != kTcp) return 0;
  return wire::load_be16(ip + 4) == frame.size() - at - wire::kIpv6Bytes ? at + wire::kIpv6Bytes : 0;
}

void add_pseudo_header(wire::InternetSum& sum, std::span<const std::byte> frame, const TcpLayout& layout,
                       std::size_t frame_bytes) {
  sum.add(layout.ipv6 ? frame.subspan(layout.ip + 8, 32) : frame.subspan(layout.ip + 12, 8));
  sum.add_be16(std::to_integer<std::uint16_t>(kTcp));
  sum.add_be16(static_cast<std::uint16_t>(frame_bytes - layout.tcp));
}

std::uint16_t ipv4_checksum(std::span<const std::byte> frame, const TcpLayout& layout) {
  wire::InternetSum sum;
  sum.add(frame.subspan(layout.ip, layout.tcp - layout.ip));
  return sum.checksum();
}

std::uint16_t tcp_checksum(std::span<const std::byte> frame, const TcpLayout& layout) {
  wire::InternetSum sum;
  add_pseudo_header(sum, frame, layout, frame.size());
  sum.add(frame.subspan(layout.tcp));
  return sum.checksum();
}

void store(std::span<std::byte> frame, std::size_t at, std::uint16_t as_in_memory) {
  std::memcpy(frame.data() + at, &as_in_memory, sizeof as_in_memory);
}

}  // namespace

std::optional<TcpLayout> tcp_layout(std::span<const std::byte> frame) {
  if (frame.size() < wire::kEthernetBytes + kVlanBytes) return {};
  const bool tagged = wire::load_be16(frame.data() + 12) == kVlanType;
  const std::size_t ip = wire::kEthernetBytes + (tagged ? kVlanBytes : 0);
  const std::uint16_t type = wire::load_be16(frame.data() + ip - 2);
  TcpLayout layout{.ipv6 = type == kIpv6Type, .ip = ip};
  if (type == kIpv4Type) layout.tcp = behind_ipv4(frame, ip);
  if (type == kIpv6Type) layout.tcp = behind_ipv6(frame, ip);
  if (layout.tcp == 0 || frame.size() < layout.tcp + kTcpBytes) return {};
  const std::size_t header = (std::to_integer<unsigned>(frame[layout.tcp + 12]) >> 4) * std::size_t{4};
  layout.payload = layout.tcp + header;
  if (header < kTcpBytes || frame.size() < layout.payload) return {};
  return layout;
}

bool has_right_checksums(std::span<const std::byte> frame, const TcpLayout& layout) {
  return (layout.ipv6 || ipv4_checksum(frame, layout) == 0) && tcp_checksum(frame, layout) == 0;
}

void set_ip_length(std::span<std::byte> headers, const TcpLayout& layout, std::size_t frame_bytes) {
  if (layout.ipv6) {
    const std::size_t length = frame_bytes - layout.ip - wire::kIpv6Bytes;
    return wire::store_be16(headers.data() + layout.ip + 4, static_cast<std::uint16_t>(length));
  }
  wire::store_be16(headers.data() + layout.ip + 2, static_cast<std::uint16_t>(frame_bytes - layout.ip));
  store(headers, layout.ip + kIpv4Checksum, 0);
  store(headers, layout.ip + kIpv4Checksum, ipv4_checksum(headers, layout));
}

void set_tcp_checksum(std::span<std::byte> frame, const TcpLayout& layout) {
  store(frame, layout.tcp + kTcpChecksum, 0);
  store(frame, layout.tcp + kTcpChecksum, tcp_checksum(frame, layout));
}

void begin_tcp_checksum(std::span<std::byte> headers, const TcpLayout& layout, std::size_t frame_bytes) {
  wire::InternetSum sum;
  add_pseudo_header(sum, headers, layout, frame_bytes);
  store(headers, layout.tcp + kTcpChecksum, static_cast<std::uint16_t>(~sum.checksum()));
}

}  // namespace urnic::link
