#include "wire/infiniband/local_route_header.hpp"

#include "wire/byte_order.hpp"

namespace urnic::wire::infiniband {
namespace {

constexpr std::uint16_t kWordsMask = 0x7FF;

}  // namespace

void encode(const LocalRouteHeader& header, std::byte* to) {
  to[0] = static_cast<std::byte>(header.virtual_lane << 4 | (header.version & 0xF));
  to[1] = static_cast<std::byte>(header.service_level << 4 | static_cast<std::uint8_t>(header.next));
  store_be16(to + kDestinationLidOffset, header.destination.value);
  store_be16(to + 4, header.words & kWordsMask);
  store_be16(to + kSourceLidOffset, header.source.value);
}

LocalRouteHeader decode_local_route(const std::byte* from) {
  const auto lane = std::to_integer<std::uint8_t>(from[0]);
  const auto level = std::to_integer<std::uint8_t>(from[1]);
  LocalRouteHeader header;
  header.virtual_lane = lane >> 4;
  header.version = lane & 0xF;
  header.service_level = level >> 4;
  header.next = static_cast<NextHeader>(level & 3);
  header.destination = {load_be16(from + kDestinationLidOffset)};
  header.words = load_be16(from + 4) & kWordsMask;
  header.source = {load_be16(from + kSourceLidOffset)};
  return header;
}

}  // namespace urnic::wire::infiniband
