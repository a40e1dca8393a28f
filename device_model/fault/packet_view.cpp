#include "device_model/fault/packet_view.hpp"

#include <algorithm>

#include "device_model/link/port.hpp"
#include "wire/byte_order.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::fault {

namespace {

// True for UDP to the RoCE port: programs may send other frames, too. The rest is not checked, because a
// fault may have changed it.
bool is_roce(std::span<const std::byte> frame, std::size_t ip, bool ipv4) {
  constexpr std::byte kUdp{17};
  constexpr std::size_t kProtocolInIpv4 = 9;
  constexpr std::size_t kProtocolInIpv6 = 6;
  const std::size_t udp = ip + (ipv4 ? wire::kIpv4Bytes : wire::kIpv6Bytes);
  if (frame.size() < udp + wire::kUdpBytes) return false;
  const std::size_t protocol = ip + (ipv4 ? kProtocolInIpv4 : kProtocolInIpv6);
  return frame[protocol] == kUdp && wire::load_be16(frame.data() + udp + 2) == wire::kRocePort;
}

std::optional<std::size_t> bth_of_frame(std::span<const std::byte> frame) {
  if (frame.size() < wire::kEthernetBytes) return {};
  const std::size_t ip = wire::ethernet_header_size(frame.data());
  if (frame.size() < ip) return {};
  const bool ipv4 = frame[ip - 2] == std::byte{0x08};
  if (!is_roce(frame, ip, ipv4)) return {};
  return ip + (ipv4 ? wire::kIpv4Bytes : wire::kIpv6Bytes) + wire::kUdpBytes;
}

}  // namespace

std::optional<PacketView> look_at(const link::PacketAtLink& packet) {
  const auto bytes = packet.frame.headers;  // a changed frame lies in one piece, all of it here
  const bool is_infiniband = packet.frame.link_layer == wire::LinkLayer::infiniband;
  const auto bth_at = is_infiniband ? wire::infiniband::transport_offset(bytes) : bth_of_frame(bytes);
  if (!bth_at || bytes.size() < *bth_at + wire::kBthBytes) return {};
  PacketView view;
  view.bth_at = *bth_at;
  wire::parse_bth(bytes.data() + view.bth_at, view.bth);
  const std::size_t header_bytes = view.bth_at + wire::transport_header_size(view.bth.opcode);
  view.headers = bytes.first(std::min(bytes.size(), header_bytes));
  view.request = wire::traits(view.bth.opcode).request;
  if (packet.direction == link::Direction::transmit) {
    view.queue_pair = packet.origin.queue_pair;
    view.ordinal = packet.origin.identity.queue_pair;
  } else {
    view.queue_pair = view.bth.destination;
    view.ordinal = packet.receiver.ordinal_of(view.bth.destination);
  }
  return view;
}

}  // namespace urnic::fault
