// What is in front of each frame on the descriptor of a TAP interface with offloads: virtio_net_hdr, in this
// machine's byte order (Linux, include/uapi/linux/virtio_net.h, which is no C++).
#pragma once

#include <cstdint>

namespace urnic::link {

struct TapHeader {
  std::uint8_t flags = 0;
  std::uint8_t gso_type = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_bytes = 0;    // of payload
  std::uint16_t checksum_start = 0;   // where the bytes begin that it covers
  std::uint16_t checksum_offset = 0;  // of its field, from there
};
static_assert(sizeof(TapHeader) == 10);

inline constexpr std::uint8_t kNeedsChecksum = 1;
inline constexpr std::uint8_t kChecksumIsRight = 2;

inline constexpr std::uint8_t kOneSegment = 0;
inline constexpr std::uint8_t kTcpIpv4Segments = 1;
inline constexpr std::uint8_t kTcpIpv6Segments = 4;

}  // namespace urnic::link
