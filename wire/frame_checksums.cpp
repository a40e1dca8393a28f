#include "wire/frame_checksums.hpp"

#include <cstring>

#include "wire/ethernet.hpp"
#include "wire/internet_checksum.hpp"
#include "wire/network_codec.hpp"

namespace urnic::wire {
namespace {

constexpr std::uint16_t kServiceVlan = 0x88A8;  // IEEE 802.1ad: the outer of two tags
constexpr std::size_t kMostTags = 2;
constexpr std::uint16_t kFragment = 0x3FFF;  // of IPv4: More Fragments, and the offset
constexpr std::size_t kIpv4Checksum = 10;

constexpr std::uint8_t kTcp = 6;
constexpr std::size_t kTcpBytes = 20;
constexpr std::size_t kTcpChecksum = 16;
constexpr std::uint8_t kUdp = 17;
constexpr std::size_t kUdpChecksum = 6;

// Offsets in a frame. 0: it has no such part.
struct Parts {
  std::size_t ip = 0;
  std::size_t behind_ip = 0;
  std::size_t end = 0;  // of the IP packet
  bool ipv6 = false;
  std::uint8_t protocol = 0;           // of what is behind, if that is whole
  std::size_t transport_checksum = 0;  // TCP's or UDP's
};

std::uint8_t byte_at(std::span<const std::byte> frame, std::size_t at) {
  return std::to_integer<std::uint8_t>(frame[at]);
}

void find_ipv4(std::span<const std::byte> frame, std::size_t at, Parts& parts) {
  if (frame.size() < at + kIpv4Bytes || byte_at(frame, at) >> 4 != 4) return;
  const std::size_t header = (byte_at(frame, at) & 0xFu) * std::size_t{4};
  const std::size_t length = load_be16(frame.data() + at + 2);
  if (header < kIpv4Bytes || length < header || length > frame.size() - at) return;
  parts.ip = at;
  parts.behind_ip = at + header;
  parts.end = at + length;
  const bool is_whole = (load_be16(frame.data() + at + 6) & kFragment) == 0;
  if (is_whole) parts.protocol = byte_at(frame, at + 9);
}

void find_ipv6(std::span<const std::byte> frame, std::size_t at, Parts& parts) {
  if (frame.size() < at + kIpv6Bytes || byte_at(frame, at) >> 4 != 6) return;
  const std::size_t length = load_be16(frame.data() + at + 4);
  if (length > frame.size() - at - kIpv6Bytes) return;
  parts.ip = at;
  parts.behind_ip = at + kIpv6Bytes;
  parts.end = parts.behind_ip + length;
  parts.ipv6 = true;
  parts.protocol = byte_at(frame, at + 6);
}

void find_transport(Parts& parts) {
  const std::size_t bytes = parts.end - parts.behind_ip;
  if (parts.protocol == kTcp && bytes >= kTcpBytes) parts.transport_checksum = parts.behind_ip + kTcpChecksum;
  if (parts.protocol == kUdp && bytes >= kUdpBytes) parts.transport_checksum = parts.behind_ip + kUdpChecksum;
}

Parts parts_of(std::span<const std::byte> frame) {
  Parts parts;
  std::size_t at = kEthernetBytes;
  std::uint16_t type = frame.size() < at ? 0 : load_be16(frame.data() + kEtherTypeOffset);
  for (std::size_t tags = 0; type == ether_type::kVlan || type == kServiceVlan; ++tags) {
    at += kVlanTagBytes;
    if (tags == kMostTags || frame.size() < at) return parts;
    type = load_be16(frame.data() + at - sizeof type);
  }
  if (type == ether_type::kIpv4) find_ipv4(frame, at, parts);
  if (type == ether_type::kIpv6) find_ipv6(frame, at, parts);
  find_transport(parts);
  return parts;
}

bool has_network_checksum(const Parts& parts) { return parts.ip != 0 && !parts.ipv6; }

// Over the field, too: 0 if that is right.
std::uint16_t network_checksum(std::span<const std::byte> frame, const Parts& parts) {
  InternetSum sum;
  sum.add(frame.subspan(parts.ip, parts.behind_ip - parts.ip));
  return sum.checksum();
}

// Likewise. The pseudo header is in front: both addresses, the length and the protocol.
std::uint16_t transport_checksum(std::span<const std::byte> frame, const Parts& parts) {
  const std::size_t bytes = parts.end - parts.behind_ip;
  InternetSum sum;
  sum.add(parts.ipv6 ? frame.subspan(parts.ip + 8, 32) : frame.subspan(parts.ip + 12, 8));
  sum.add_be16(static_cast<std::uint16_t>(bytes));
  sum.add_be16(parts.protocol);
  sum.add(frame.subspan(parts.behind_ip, bytes));
  return sum.checksum();
}

void store(std::span<std::byte> frame, std::size_t at, std::uint16_t as_in_memory) {
  std::memcpy(frame.data() + at, &as_in_memory, sizeof as_in_memory);
}

}  // namespace

// UDP sends 0 as all ones: 0 says that there is no checksum.
void fill_checksums(std::span<std::byte> frame, FrameChecksums wanted) {
  const Parts parts = parts_of(frame);
  if (wanted.network && has_network_checksum(parts)) {
    store(frame, parts.ip + kIpv4Checksum, 0);
    store(frame, parts.ip + kIpv4Checksum, network_checksum(frame, parts));
  }
  if (wanted.transport && parts.transport_checksum != 0) {
    store(frame, parts.transport_checksum, 0);
    const std::uint16_t sum = transport_checksum(frame, parts);
    store(frame, parts.transport_checksum, sum == 0 && parts.protocol == kUdp ? 0xFFFF : sum);
  }
}

FrameChecksums right_checksums(std::span<const std::byte> frame) {
  const Parts parts = parts_of(frame);
  FrameChecksums right;
  right.network = parts.ip != 0 && (parts.ipv6 || network_checksum(frame, parts) == 0);
  if (parts.transport_checksum == 0) return right;
  const bool is_left_out = parts.protocol == kUdp && load_be16(frame.data() + parts.transport_checksum) == 0;
  right.transport = !is_left_out && transport_checksum(frame, parts) == 0;
  return right;
}

}  // namespace urnic::wire
