#include "device_model/link/frame_edits.hpp"

#include "wire/icrc.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::link {

namespace {

// In the IP header.
constexpr std::size_t kTrafficClass = 1;  // of IPv4; IPv6 has it 4 bits earlier
constexpr std::size_t kIpv4Checksum = 10;
constexpr std::uint8_t kCongestionExperienced = 3;
constexpr std::uint16_t kTypeIpv4 = 0x0800;
constexpr std::uint16_t kTypeIpv6 = 0x86DD;

// RFC 1624: updates a checksum after one 16-bit word changed from `before` to `after`.
std::uint16_t updated(std::uint16_t checksum, std::uint16_t before, std::uint16_t after) {
  std::uint32_t sum = static_cast<std::uint16_t>(~checksum) + static_cast<std::uint16_t>(~before) + after;
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

std::uint16_t word_at(std::span<const std::byte> frame, std::size_t at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(frame[at]) << 8 |
                                    std::to_integer<unsigned>(frame[at + 1]));
}

void put_word(std::span<std::byte> frame, std::size_t at, std::uint16_t word) {
  frame[at] = static_cast<std::byte>(word >> 8);
  frame[at + 1] = static_cast<std::byte>(word & 0xFF);
}

// The ECN bits are the lowest two of the traffic class: bits 0 and 1 of IPv4's byte, 4 and 5 of IPv6's. `ip`:
// where the IP header begins.
unsigned ecn_shift(std::span<const std::byte> headers, std::size_t ip) {
  return word_at(headers, ip - 2) == kTypeIpv4 ? 0 : 4;
}

wire::Frame as_frame(const EditedFrame& frame) {
  return {.headers = frame.bytes, .payload = {}, .trailer = {}, .link_layer = frame.link_layer};
}

}  // namespace

Ecn ecn(const wire::Frame& frame) {
  const auto headers = frame.headers;
  if (frame.link_layer == wire::LinkLayer::infiniband) return Ecn::not_capable;
  if (headers.size() < wire::kEthernetBytes + wire::kIpv4Bytes) return Ecn::not_capable;
  const std::size_t ip = wire::ethernet_header_size(headers.data());
  const std::uint16_t ether_type = word_at(headers, ip - 2);
  if (ether_type != kTypeIpv4 && ether_type != kTypeIpv6) return Ecn::not_capable;
  const auto byte = std::to_integer<unsigned>(headers[ip + kTrafficClass]);
  const unsigned bits = byte >> ecn_shift(headers, ip) & kCongestionExperienced;
  if (bits == 0) return Ecn::not_capable;
  return bits == kCongestionExperienced ? Ecn::experienced : Ecn::capable;
}

Ecn mark_congestion(const EditedFrame& frame) {
  const Ecn before = ecn(as_frame(frame));
  if (before != Ecn::capable) return before;
  const auto bytes = frame.bytes;
  const std::size_t ip = wire::ethernet_header_size(bytes.data());
  const std::uint16_t word = word_at(bytes, ip);
  bytes[ip + kTrafficClass] |= std::byte{kCongestionExperienced} << ecn_shift(bytes, ip);
  if (word_at(bytes, ip - 2) == kTypeIpv4) {
    put_word(bytes, ip + kIpv4Checksum,
             updated(word_at(bytes, ip + kIpv4Checksum), word, word_at(bytes, ip)));
  }
  return before;
}

void flip_bit(std::span<std::byte> frame, std::size_t bit) {
  if (bit / 8 < frame.size()) frame[bit / 8] ^= static_cast<std::byte>(0x80u >> (bit % 8));
}

std::size_t corrupt_somewhere(const EditedFrame& frame, std::uint64_t random) {
  const std::size_t bytes = frame.bytes.size();
  std::size_t spared = 0;
  if (frame.link_layer == wire::LinkLayer::ethernet) {
    if (bytes <= wire::kEthernetBytes) return 0;
    spared = wire::ethernet_header_size(frame.bytes.data());
  }
  if (bytes <= spared) return 0;
  const std::size_t bit = spared * 8 + random % ((bytes - spared) * 8);
  flip_bit(frame.bytes, bit);
  return bit;
}

std::optional<std::size_t> bth_offset(const EditedFrame& frame) {
  wire::NetworkHeaders network;
  wire::NetworkExtent extent;
  if (wire::parse_network(as_frame(frame), network, extent) != wire::ParseError::none) return {};
  if (extent.header_bytes + wire::kBthBytes + wire::kIcrcBytes > frame.bytes.size()) return {};
  return extent.header_bytes;
}

void refresh_icrc(const EditedFrame& frame) {
  const auto bth = bth_offset(frame);
  if (!bth) return;
  const auto covered = frame.bytes.first(frame.bytes.size() - wire::kIcrcBytes);
  const auto icrc = frame.bytes.last(wire::kIcrcBytes);
  const std::size_t headers = *bth + wire::kBthBytes;
  wire::pay_icrc({.headers = covered.first(headers),
                  .payload = covered.subspan(headers),
                  .trailer = icrc,
                  .owed_icrc = icrc.data(),
                  .link_layer = frame.link_layer});
}

}  // namespace urnic::link
