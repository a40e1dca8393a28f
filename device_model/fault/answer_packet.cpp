#include "device_model/fault/answer_packet.hpp"

#include <algorithm>
#include <utility>

#include "device_model/link/port.hpp"
#include "wire/network_codec.hpp"

namespace urnic::fault {

std::span<const std::byte> AnswerPacket::make(const link::PacketAtLink& request, const PacketView& view,
                                              std::uint8_t syndrome) {
  wire::NetworkHeaders network;
  wire::NetworkExtent extent;
  const auto error = wire::parse_network(request.frame.headers, request.frame.size(), network, extent);
  if (error != wire::ParseError::none) return {};
  wire::Qpn requester = request.origin.queue_pair;
  if (requester == link::kUnknownQpn) {
    const auto connection = request.receiver.connection_of(view.bth.destination);
    if (!connection || !wire::is_return(network, connection->path)) return {};
    network = connection->path;
    requester = connection->peer;
  } else {
    std::swap(network.destination_mac, network.source_mac);
    std::swap(network.destination, network.source);
  }

  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(view.bth.opcode.service(), wire::Operation::acknowledge);
  headers.bth.pkey = view.bth.pkey;
  headers.bth.destination = requester;
  headers.bth.psn = view.bth.psn;
  headers.aeth.syndrome = syndrome;
  wire::FrameStorage storage;
  const wire::Frame frame = wire::encode(network, headers, {}, storage);
  const auto end = std::copy(frame.headers.begin(), frame.headers.end(), bytes_.begin());
  std::copy(frame.trailer.begin(), frame.trailer.end(), end);
  return std::span(bytes_).first(frame.size());
}

}  // namespace urnic::fault
