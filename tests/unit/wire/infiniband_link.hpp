// Packets as they are on a link of InfiniBand: a frame in one piece, and its VCRC.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "wire/frame.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::wire::infiniband::test {

// Makes an ICRC that is owed, too.
inline std::vector<std::byte> on_link(const Frame& frame) {
  std::vector<std::byte> packet(frame.size());
  copy_whole(frame, packet.data());
  append_variant_crc(packet);
  return packet;
}

// Without the VCRC. `packet` has at least kVariantCrcBytes.
inline Frame frame_of(std::span<const std::byte> packet) {
  return {.headers = packet.first(packet.size() - kVariantCrcBytes),
          .payload = {},
          .trailer = {},
          .link_layer = LinkLayer::infiniband};
}

// The packet with the VCRC that belongs to it.
inline std::vector<std::byte> with_variant_crc(std::span<const std::byte> packet) {
  return on_link(frame_of(packet));
}

}  // namespace urnic::wire::infiniband::test
