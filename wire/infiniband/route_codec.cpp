#include "wire/infiniband/route_codec.hpp"

#include "wire/byte_order.hpp"
#include "wire/icrc.hpp"
#include "wire/infiniband/global_route_header.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::wire::infiniband {
namespace {

constexpr std::size_t kWordsAt = 4;                            // in the LRH
constexpr std::size_t kPayloadBytesAt = kLocalRouteBytes + 4;  // in the GRH
constexpr std::size_t kLeastBehind = kBthBytes + kIcrcBytes;   // behind the routes
static_assert(kLocalRouteBytes + kGlobalRouteBytes <= kMaxNetworkHeaderBytes);

// A GRH whose length is another than the LRH's says, or that no BTH follows, makes the packet malformed (IBTA
// 9.6.1.2). `bytes` are those from the GRH to the ICRC.
ParseError parse_global(const std::byte* from, std::size_t bytes, NetworkHeaders& network) {
  constexpr std::uint8_t kVersion = 6;
  const GlobalRouteHeader global = decode_global_route(from);
  if (global.version != kVersion || global.next != kNextIsTransport) return ParseError::raw_packet;
  if (global.payload_bytes != bytes - kGlobalRouteBytes) return ParseError::truncated;
  network.source = global.source;
  network.destination = global.destination;
  network.traffic_class = global.traffic_class;
  network.flow_label = global.flow_label;
  network.hop_limit = global.hop_limit;
  return ParseError::none;
}

}  // namespace

std::size_t route_size(const LocalRoute& local) {
  return kLocalRouteBytes + (local.with_grh ? kGlobalRouteBytes : 0);
}

void encode_route(const NetworkHeaders& network, const LocalRoute& local, std::byte* to) {
  encode(LocalRouteHeader{.virtual_lane = local.virtual_lane,
                          .service_level = local.service_level,
                          .next = local.with_grh ? NextHeader::global : NextHeader::transport,
                          .destination = local.destination,
                          .source = local.source},
         to);
  if (!local.with_grh) return;
  encode(GlobalRouteHeader{.traffic_class = network.traffic_class,
                           .flow_label = network.flow_label,
                           .hop_limit = network.hop_limit,
                           .source = network.source,
                           .destination = network.destination},
         to + kLocalRouteBytes);
}

void complete_route(std::byte* route, std::size_t size, std::size_t behind) {
  store_be16(route + kWordsAt, static_cast<std::uint16_t>((size + behind) / 4));
  if (size != kLocalRouteBytes) store_be16(route + kPayloadBytesAt, static_cast<std::uint16_t>(behind));
}

ParseError parse_route(std::span<const std::byte> headers, std::size_t packet_bytes, NetworkHeaders& network,
                       NetworkExtent& extent) {
  if (headers.size() < kLocalRouteBytes) return ParseError::truncated;
  const LocalRouteHeader local = decode_local_route(headers.data());
  network = {};
  network.local = LocalRoute{.destination = local.destination,
                             .source = local.source,
                             .service_level = local.service_level,
                             .virtual_lane = local.virtual_lane,
                             .with_grh = local.next == NextHeader::global};
  if (local.words * std::size_t{4} != packet_bytes) return ParseError::truncated;
  const bool has_transport = local.next == NextHeader::transport || local.next == NextHeader::global;
  if (local.version != 0 || !has_transport) return ParseError::raw_packet;
  extent.header_bytes = route_size(*network.local);
  extent.frame_bytes = packet_bytes;
  if (headers.size() < extent.header_bytes || packet_bytes < extent.header_bytes + kLeastBehind)
    return ParseError::truncated;
  if (!network.local->with_grh) return ParseError::none;
  return parse_global(headers.data() + kLocalRouteBytes, packet_bytes - kLocalRouteBytes, network);
}

std::optional<std::size_t> transport_offset(std::span<const std::byte> headers) {
  if (headers.size() < kLocalRouteBytes) return {};
  const NextHeader next = decode_local_route(headers.data()).next;
  if (next == NextHeader::transport) return kLocalRouteBytes;
  if (next == NextHeader::global) return kLocalRouteBytes + kGlobalRouteBytes;
  return {};
}

}  // namespace urnic::wire::infiniband
