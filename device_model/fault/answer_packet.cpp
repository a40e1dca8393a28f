#include "device_model/fault/answer_packet.hpp"

#include <optional>
#include <utility>

#include "device_model/link/port.hpp"
#include "device_model/transport/congestion_settings.hpp"
#include "wire/network_codec.hpp"

namespace urnic::fault {

namespace {

// The default of the setting cnp_dscp (docs/congestion.md).
constexpr std::uint8_t kNotificationClass = transport::CongestionSettings{}.notification_dscp << 2;

struct WayBack {
  wire::NetworkHeaders network;
  wire::Qpn queue_pair;  // that sent the packet
};

std::optional<WayBack> way_back(const link::PacketAtLink& packet, const PacketView& view) {
  WayBack way{{}, packet.origin.queue_pair};
  wire::NetworkExtent extent;
  const auto error = wire::parse_network(packet.frame, way.network, extent);
  if (error != wire::ParseError::none) return {};
  if (way.queue_pair == link::kUnknownQpn) {
    const auto connection = packet.receiver.connection_of(view.bth.destination);
    if (!connection || !wire::is_return(way.network, connection->path)) return {};
    return WayBack{connection->path, connection->peer};
  }
  std::swap(way.network.destination_mac, way.network.source_mac);
  std::swap(way.network.destination, way.network.source);
  if (way.network.local) std::swap(way.network.local->destination, way.network.local->source);
  return way;
}

}  // namespace

std::span<const std::byte> AnswerPacket::acknowledge(const link::PacketAtLink& request,
                                                     const PacketView& view, std::uint8_t syndrome) {
  const auto way = way_back(request, view);
  if (!way) return {};
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(view.bth.opcode.service(), wire::Operation::acknowledge);
  headers.bth.pkey = view.bth.pkey;
  headers.bth.destination = way->queue_pair;
  headers.bth.psn = view.bth.psn;
  headers.aeth.syndrome = syndrome;
  return keep(way->network, headers, {});
}

std::span<const std::byte> AnswerPacket::notify(const link::PacketAtLink& packet, const PacketView& view) {
  auto way = way_back(packet, view);
  if (!way) return {};
  way->network.traffic_class = kNotificationClass;
  return keep(way->network, wire::congestion_notification(view.bth.pkey, way->queue_pair),
              wire::kNotificationPayload);
}

std::span<const std::byte> AnswerPacket::keep(const wire::NetworkHeaders& network,
                                              const wire::TransportHeaders& headers,
                                              std::span<const std::byte> payload) {
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, payload, storage);
  wire::copy_whole(frame, bytes_.data());
  return std::span(bytes_).first(frame.size());
}

}  // namespace urnic::fault
