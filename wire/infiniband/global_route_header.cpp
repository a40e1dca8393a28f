#include "wire/infiniband/global_route_header.hpp"

#include <cstring>

#include "wire/byte_order.hpp"

namespace urnic::wire::infiniband {
namespace {

constexpr std::uint32_t kFlowMask = 0xFFFFF;

}  // namespace

void encode(const GlobalRouteHeader& header, std::byte* to) {
  const std::uint32_t first = std::uint32_t{header.version} << 28 |
                              std::uint32_t{header.traffic_class} << 20 | (header.flow_label & kFlowMask);
  store_be32(to, first);
  store_be16(to + 4, header.payload_bytes);
  to[6] = std::byte{header.next};
  to[7] = std::byte{header.hop_limit};
  std::memcpy(to + 8, header.source.bytes.data(), header.source.bytes.size());
  std::memcpy(to + 24, header.destination.bytes.data(), header.destination.bytes.size());
}

GlobalRouteHeader decode_global_route(const std::byte* from) {
  const std::uint32_t first = load_be32(from);
  GlobalRouteHeader header;
  header.version = static_cast<std::uint8_t>(first >> 28);
  header.traffic_class = static_cast<std::uint8_t>(first >> 20);
  header.flow_label = first & kFlowMask;
  header.payload_bytes = load_be16(from + 4);
  header.next = std::to_integer<std::uint8_t>(from[6]);
  header.hop_limit = std::to_integer<std::uint8_t>(from[7]);
  std::memcpy(header.source.bytes.data(), from + 8, header.source.bytes.size());
  std::memcpy(header.destination.bytes.data(), from + 24, header.destination.bytes.size());
  return header;
}

}  // namespace urnic::wire::infiniband
