// The frame check sequence of Ethernet (IEEE 802.3 3.2.9): CRC-32 over the whole frame.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace urnic::wire {

inline constexpr std::size_t kFrameCheckBytes = 4;

// In the order of the wire. `frame` begins at the destination address.
std::array<std::byte, kFrameCheckBytes> frame_check_sequence(std::span<const std::byte> frame);

}  // namespace urnic::wire
