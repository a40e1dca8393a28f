// A whole packet of InfiniBand: LRH, perhaps a GRH, then BTH, extended headers, payload, pad and ICRC as in
// RoCEv2, and the VCRC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/headers.hpp"
#include "wire/infiniband/global_route_header.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/infiniband/variant_crc.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::wire::infiniband {

// LRH, GRH, the longest chain of transport headers, the largest payload, ICRC, VCRC. A payload that large
// needs no pad.
inline constexpr std::size_t kMaxPacketBytes =
    kLocalRouteBytes + kGlobalRouteBytes + kMaxTransportHeaderBytes + 4096 + 4 + kVariantCrcBytes;

// How a packet finds its way.
struct Route {
  LocalRouteHeader local;                   // `next` and `words` follow from the rest
  std::optional<GlobalRouteHeader> global;  // `payload_bytes` and `next` follow from the rest
};

// Writes the packet to `to`, which has room for kMaxPacketBytes, and returns its bytes. The pad follows from
// the payload's length, which is at most 4,096 bytes; `transport.bth.pad` is not read.
std::span<std::byte> encode(const Route& route, const TransportHeaders& transport,
                            std::span<const std::byte> payload, std::byte* to);

enum class PacketError : std::uint8_t {
  none,
  truncated,      // shorter than its headers say, or longer
  not_transport,  // a raw packet, another link version, or a GRH that no BTH follows
  bad_transport,  // what follows the routes makes no sense: version, length or pad
  bad_invariant_crc,
  bad_variant_crc,
  unknown_opcode,  // the only error
};
// A phrase for logs; static storage.
const char* describe(PacketError error);

struct ParsedPacket {
  Route route;
  TransportHeaders transport;
  std::span<const std::byte> payload;  // without pad; inside the bytes that were parsed
};

// Parses a whole packet, from the LRH to the VCRC. Nothing in it is trusted. On an error `parsed` holds what
// was read before it.
PacketError parse(std::span<const std::byte> bytes, ParsedPacket& parsed);

// The link's part when a packet goes on: it has another virtual lane, and so another VCRC.
void change_virtual_lane(std::span<std::byte> packet, std::uint8_t lane);

}  // namespace urnic::wire::infiniband
