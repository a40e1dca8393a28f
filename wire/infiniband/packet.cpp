#include "wire/infiniband/packet.hpp"

#include <algorithm>
#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/invariant_crc.hpp"
#include "wire/transport_extent.hpp"

namespace urnic::wire::infiniband {
namespace {

// Both CRCs are sent with the least significant byte first.
void store_variant_crc(std::span<std::byte> packet) {
  const auto covered = packet.first(packet.size() - kVariantCrcBytes);
  store_be16(packet.data() + covered.size(), __builtin_bswap16(variant_crc(covered)));
}

bool has_right_variant_crc(std::span<const std::byte> packet) {
  const auto covered = packet.first(packet.size() - kVariantCrcBytes);
  return load_be16(packet.data() + covered.size()) == __builtin_bswap16(variant_crc(covered));
}

// Checks what the LRH says of the packet's length, and reads both routes. Returns the offset of the BTH in
// `at`.
PacketError parse_route(std::span<const std::byte> bytes, Route& route, std::size_t& at) {
  if (bytes.size() < kLocalRouteBytes + kBthBytes + kIcrcBytes + kVariantCrcBytes)
    return PacketError::truncated;
  route.local = decode_local_route(bytes.data());
  if (route.local.words * std::size_t{4} + kVariantCrcBytes != bytes.size()) return PacketError::truncated;
  at = kLocalRouteBytes;
  if (route.local.version != 0) return PacketError::not_transport;
  if (route.local.next == NextHeader::transport) return PacketError::none;
  if (route.local.next != NextHeader::global) return PacketError::not_transport;
  if (bytes.size() < at + kGlobalRouteBytes + kBthBytes + kIcrcBytes + kVariantCrcBytes)
    return PacketError::truncated;
  route.global = decode_global_route(bytes.data() + at);
  at += kGlobalRouteBytes;
  return route.global->next == kNextIsTransport ? PacketError::none : PacketError::not_transport;
}

}  // namespace

std::span<std::byte> encode(const Route& route, const TransportHeaders& transport,
                            std::span<const std::byte> payload, std::byte* to) {
  const std::size_t pad = -payload.size() & 3;
  const std::size_t transport_bytes = transport_header_size(transport.bth.opcode);
  const std::size_t behind_routes = transport_bytes + payload.size() + pad + kIcrcBytes;
  const std::size_t routes = kLocalRouteBytes + (route.global ? kGlobalRouteBytes : 0);

  LocalRouteHeader local = route.local;
  local.next = route.global ? NextHeader::global : NextHeader::transport;
  local.words = static_cast<std::uint16_t>((routes + behind_routes) / 4);
  encode(local, to);
  if (route.global) {
    GlobalRouteHeader global = *route.global;
    global.payload_bytes = static_cast<std::uint16_t>(behind_routes);
    global.next = kNextIsTransport;
    encode(global, to + kLocalRouteBytes);
  }
  encode_transport(transport, static_cast<std::uint8_t>(pad), to + routes);
  std::byte* const data = to + routes + transport_bytes;
  if (!payload.empty()) std::memcpy(data, payload.data(), payload.size());
  std::fill_n(data + payload.size(), pad, std::byte{0});
  std::byte* const crc = data + payload.size() + pad;
  const std::span<const std::byte> headers(to, routes + transport_bytes);
  store_be32(crc, __builtin_bswap32(invariant_crc(headers, {data, payload.size() + pad})));
  const std::span<std::byte> packet(to, routes + behind_routes + kVariantCrcBytes);
  store_variant_crc(packet);
  return packet;
}

PacketError parse(std::span<const std::byte> bytes, ParsedPacket& parsed) {
  std::size_t at = 0;
  parsed.route.global.reset();
  if (const PacketError error = parse_route(bytes, parsed.route, at); error != PacketError::none)
    return error;
  const auto packet = bytes.first(bytes.size() - kVariantCrcBytes);
  TransportExtent extent;
  const ParseError error = parse_transport(packet.subspan(at), packet.size() - at, parsed.transport, extent);
  if (error == ParseError::truncated) return PacketError::truncated;
  if (error != ParseError::none) return PacketError::bad_transport;
  parsed.payload = packet.subspan(at + extent.header_bytes, extent.payload_bytes);
  if (!has_right_variant_crc(bytes)) return PacketError::bad_variant_crc;

  const auto behind = packet.subspan(at + extent.header_bytes);
  const auto covered = behind.first(behind.size() - kIcrcBytes);
  const std::uint32_t sent = __builtin_bswap32(load_be32(covered.data() + covered.size()));
  if (sent != invariant_crc(packet.first(at + extent.header_bytes), covered))
    return PacketError::bad_invariant_crc;
  return traits(parsed.transport.bth.opcode).known ? PacketError::none : PacketError::unknown_opcode;
}

void change_virtual_lane(std::span<std::byte> packet, std::uint8_t lane) {
  packet[0] = static_cast<std::byte>(lane << 4 | (std::to_integer<std::uint8_t>(packet[0]) & 0xF));
  store_variant_crc(packet);
}

const char* describe(PacketError error) {
  switch (error) {
    case PacketError::none:
      return "nothing is wrong";
    case PacketError::truncated:
      return "packet has another length than its headers say";
    case PacketError::not_transport:
      return "not a packet of the InfiniBand transport (raw, another link version, or no BTH behind the GRH)";
    case PacketError::bad_transport:
      return "BTH version, payload length or pad count makes no sense";
    case PacketError::bad_invariant_crc:
      return "invariant CRC is wrong";
    case PacketError::bad_variant_crc:
      return "variant CRC is wrong";
    case PacketError::unknown_opcode:
      return "BTH opcode is reserved";
  }
  return "unknown error";
}

}  // namespace urnic::wire::infiniband
