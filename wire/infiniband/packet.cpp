#include "wire/infiniband/packet.hpp"

#include "wire/byte_order.hpp"

namespace urnic::wire::infiniband {

// Both CRCs are sent with the least significant byte first.
std::span<std::byte> copy_to_link(const Frame& frame, std::byte* to) {
  copy_whole(frame, to);
  const std::span<const std::byte> covered(to, frame.size());
  store_be16(to + covered.size(), __builtin_bswap16(variant_crc(covered)));
  return {to, covered.size() + kVariantCrcBytes};
}

bool has_right_variant_crc(std::span<const std::byte> packet) {
  if (packet.size() < kVariantCrcBytes) return false;
  const auto covered = packet.first(packet.size() - kVariantCrcBytes);
  return load_be16(packet.data() + covered.size()) == __builtin_bswap16(variant_crc(covered));
}

Frame frame_of(std::span<const std::byte> packet) {
  return {.headers = packet.first(packet.size() - kVariantCrcBytes),
          .payload = {},
          .trailer = {},
          .link_layer = LinkLayer::infiniband};
}

}  // namespace urnic::wire::infiniband
