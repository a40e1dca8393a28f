// A packet as it is on a link of InfiniBand: a frame (wire/frame.hpp) in one piece, and its VCRC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/frame.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::wire::infiniband {

inline constexpr std::size_t kMaxPacketBytes =
    kMaxHeaderBytes + kMaxPayloadBytes + kMaxTrailerBytes + kVariantCrcBytes;

// Writes the frame and its VCRC to `to`, which has room for both, and makes an ICRC that is owed. Returns
// what it has written.
std::span<std::byte> copy_to_link(const Frame& frame, std::byte* to);

// The link's check, before `parse` looks at what lies in front of the VCRC (IBTA 7.8.2).
bool has_right_variant_crc(std::span<const std::byte> packet);

// The frame of a packet, in one piece, without the VCRC. `packet` has at least kVariantCrcBytes.
Frame frame_of(std::span<const std::byte> packet);

}  // namespace urnic::wire::infiniband
