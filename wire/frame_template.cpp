#include "wire/frame_template.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::wire {
namespace {

// Bytes that fill a payload up to a multiple of four (IBTA 9.2.3, pad count).
std::size_t pad_for(std::size_t payload_bytes) { return (0 - payload_bytes) & 3; }

void store_udp_checksum(Frame& frame, std::byte* udp, std::size_t udp_offset) {
  std::uint16_t checksum = udp_checksum(frame, udp_offset);
  // A checksum of 0 is sent as 0xFFFF, since 0 means "no checksum" (RFC 768).
  if (checksum == 0) checksum = 0xFFFF;
  std::memcpy(udp + 6, &checksum, sizeof checksum);
}

}  // namespace

FrameTemplate::FrameTemplate(const NetworkHeaders& network)
    : link_layer_(network.local ? LinkLayer::infiniband : LinkLayer::ethernet),
      network_bytes_(network.local ? infiniband::route_size(*network.local) : network_header_size(network)),
      ethernet_bytes_(network.vlan_tag != 0 ? kEthernetBytes + kVlanTagBytes : kEthernetBytes),
      ipv4_(!network.local && uses_ipv4(network)),
      with_udp_checksum_(!network.local && network.udp_checksum != 0) {
  if (network.local) {
    infiniband::encode_route(network, *network.local, network_.data());
    return;
  }
  encode_network(network, network_.data());
  if (ipv4_) ipv4_sum_.add({network_.data() + ethernet_bytes_, kIpv4Bytes});
}

Lid FrameTemplate::source() const { return {load_be16(network_.data() + infiniband::kSourceLidOffset)}; }

void FrameTemplate::set_source(Lid source) {
  store_be16(network_.data() + infiniband::kSourceLidOffset, source.value);
}

std::size_t FrameTemplate::frame_bytes(Opcode opcode, std::size_t payload_bytes) const {
  return network_bytes_ + transport_header_size(opcode) + payload_bytes + pad_for(payload_bytes) + kIcrcBytes;
}

// The lengths in UDP and IP headers, and IPv4's checksum.
void FrameTemplate::complete_ip(std::byte* headers, std::size_t udp_bytes) const {
  std::byte* const ip = headers + ethernet_bytes_;
  std::byte* const udp = headers + network_bytes_ - kUdpBytes;
  store_be16(udp + 4, static_cast<std::uint16_t>(udp_bytes));
  if (!ipv4_) return store_be16(ip + 4, static_cast<std::uint16_t>(udp_bytes));
  const auto total = static_cast<std::uint16_t>(kIpv4Bytes + udp_bytes);
  store_be16(ip + 2, total);
  InternetSum sum = ipv4_sum_;
  sum.add_be16(total);
  const std::uint16_t checksum = sum.checksum();
  std::memcpy(ip + 10, &checksum, sizeof checksum);
}

Frame FrameTemplate::encode(const TransportHeaders& transport, std::span<const std::byte> payload,
                            FrameStorage& storage, Icrc check) const {
  const std::size_t pad = pad_for(payload.size());
  const std::size_t transport_bytes = transport_header_size(transport.bth.opcode);
  const std::size_t behind = transport_bytes + payload.size() + pad + kIcrcBytes;

  std::byte* const headers = storage.headers.data();
  std::memcpy(headers, network_.data(), network_.size());
  if (link_layer_ == LinkLayer::ethernet) [[likely]] {
    complete_ip(headers, kUdpBytes + behind);
  } else {
    infiniband::complete_route(headers, network_bytes_, behind);
  }
  encode_transport(transport, static_cast<std::uint8_t>(pad), headers + network_bytes_);
  std::memset(storage.trailer.data(), 0, storage.trailer.size());

  Frame frame{.headers = {headers, network_bytes_ + transport_bytes},
              .payload = payload,
              .trailer = {storage.trailer.data(), pad + kIcrcBytes},
              .owed_icrc = storage.trailer.data() + pad,
              .link_layer = link_layer_};
  if (check == Icrc::owed && !with_udp_checksum_) return frame;
  pay_icrc(frame);
  frame.owed_icrc = nullptr;
  // After the ICRC: the UDP checksum covers the ICRC, while the ICRC counts the UDP checksum as ones.
  if (with_udp_checksum_)
    store_udp_checksum(frame, headers + network_bytes_ - kUdpBytes, network_bytes_ - kUdpBytes);
  return frame;
}

}  // namespace urnic::wire
