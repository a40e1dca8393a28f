#include "wire/frame.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/frame_template.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/invariant_crc.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"
#include "wire/transport_extent.hpp"

namespace urnic::wire {
namespace {

static_assert(kMaxNetworkHeaderBytes + kMaxTransportHeaderBytes <= kMaxHeaderBytes);

// Checks the UDP checksum and reads the transport headers. `frame.headers` must hold all headers; the rest
// may lie in any piece.
ParseError parse_headers(const Frame& frame, ParsedFrame& parsed, const NetworkExtent& network,
                         TransportExtent& transport) {
  if (parsed.network.udp_checksum != 0) {
    const std::uint16_t rest = udp_checksum(frame, network.header_bytes - kUdpBytes);
    if (rest != 0) return ParseError::bad_udp_checksum;
  }
  return parse_transport(frame.headers.subspan(network.header_bytes), frame.size() - network.header_bytes,
                         parsed.transport, transport);
}

std::uint32_t right_icrc(const Frame& frame) {
  const auto pad = frame.trailer.first(frame.trailer.size() - kIcrcBytes);
  if (frame.link_layer == LinkLayer::infiniband) [[unlikely]]
    return infiniband::invariant_crc(frame.headers, frame.payload, pad);
  return icrc(frame.headers, frame.payload, pad);
}

// The checks that come last: the ICRC, then the opcode.
ParseError check_whole(const Frame& frame, Opcode opcode) {
  if (frame.owed_icrc != nullptr) return traits(opcode).known ? ParseError::none : ParseError::unknown_opcode;
  const std::size_t pad = frame.trailer.size() - kIcrcBytes;
  const std::uint32_t received = __builtin_bswap32(load_be32(frame.trailer.data() + pad));
  if (received != right_icrc(frame)) return ParseError::bad_icrc;
  return traits(opcode).known ? ParseError::none : ParseError::unknown_opcode;
}

// Of a frame that is whole in `frame.headers`.
ParseError parse_in_one_piece(const Frame& frame, ParsedFrame& parsed) {
  NetworkExtent network;
  TransportExtent transport;
  ParseError error = parse_network(frame, parsed.network, network);
  if (error != ParseError::none) return error;
  const auto bytes = frame.headers.first(network.frame_bytes);
  const Frame whole{.headers = bytes, .payload = {}, .trailer = {}, .link_layer = frame.link_layer};
  error = parse_headers(whole, parsed, network, transport);
  if (error != ParseError::none) return error;
  const std::size_t header_bytes = network.header_bytes + transport.header_bytes;
  const Frame pieces{.headers = bytes.first(header_bytes),
                     .payload = bytes.subspan(header_bytes, transport.payload_bytes),
                     .trailer = bytes.subspan(header_bytes + transport.payload_bytes),
                     .link_layer = frame.link_layer};
  parsed.payload = pieces.payload;
  return check_whole(pieces, parsed.transport.bth.opcode);
}

}  // namespace

// The ICRC is sent with its least significant byte first (IBTA 7.8.1).
void pay_icrc(const Frame& frame) {
  if (frame.owed_icrc == nullptr) return;
  store_be32(frame.owed_icrc, __builtin_bswap32(right_icrc(frame)));
}

void copy_whole(const Frame& frame, std::byte* to) {
  const auto append = [&to](std::span<const std::byte> piece) {
    if (!piece.empty()) std::memcpy(to, piece.data(), piece.size());
    const std::span<std::byte> copied(to, piece.size());
    to += piece.size();
    return copied;
  };
  const auto headers = append(frame.headers);
  const auto payload = append(frame.payload);
  const auto trailer = append(frame.trailer);
  if (frame.owed_icrc == nullptr) return;
  pay_icrc({headers, payload, trailer, trailer.data() + (frame.owed_icrc - frame.trailer.data()),
            frame.link_layer});
}

Frame encode(const NetworkHeaders& network, const TransportHeaders& transport,
             std::span<const std::byte> payload, FrameStorage& storage) {
  return FrameTemplate(network).encode(transport, payload, storage);
}

ParseError parse(const Frame& frame, ParsedFrame& parsed) {
  if (frame.payload.empty() && frame.trailer.empty()) return parse_in_one_piece(frame, parsed);
  NetworkExtent network;
  TransportExtent transport;
  ParseError error = parse_network(frame, parsed.network, network);
  if (error != ParseError::none) return error;
  if (network.frame_bytes != frame.size()) return ParseError::truncated;
  error = parse_headers(frame, parsed, network, transport);
  if (error != ParseError::none) return error;
  if (frame.headers.size() != network.header_bytes + transport.header_bytes ||
      frame.payload.size() != transport.payload_bytes) {
    return ParseError::truncated;
  }
  parsed.payload = frame.payload;
  return check_whole(frame, parsed.transport.bth.opcode);
}

ParseError parse(std::span<const std::byte> bytes, ParsedFrame& parsed) {
  return parse_in_one_piece({.headers = bytes, .payload = {}, .trailer = {}}, parsed);
}

const char* describe(ParseError error) {
  switch (error) {
    case ParseError::none:
      return "nothing is wrong";
    case ParseError::truncated:
      return "frame is shorter than its headers say, or their lengths contradict each other";
    case ParseError::not_roce:
      return "not a RoCEv2 frame (UDP port 4791 over IPv4 or IPv6)";
    case ParseError::raw_packet:
      return "raw packet of InfiniBand, or of another link version";
    case ParseError::fragment:
      return "IP fragment";
    case ParseError::bad_ip_checksum:
      return "IPv4 header checksum is wrong";
    case ParseError::bad_udp_checksum:
      return "UDP checksum is wrong";
    case ParseError::bad_transport_version:
      return "BTH transport header version is not 0";
    case ParseError::bad_length:
      return "payload length does not fit the BTH opcode";
    case ParseError::bad_pad:
      return "BTH pad count does not fit the payload";
    case ParseError::bad_icrc:
      return "invariant CRC is wrong";
    case ParseError::unknown_opcode:
      return "BTH opcode is reserved";
  }
  return "unknown error";
}

}  // namespace urnic::wire
