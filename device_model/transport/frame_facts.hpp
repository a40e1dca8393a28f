// What a device has found out about a raw packet on its way to a queue pair, and tells in its completion.
#pragma once

#include <cstdint>

#include "wire/frame_checksums.hpp"

namespace urnic::transport {

// Headers of the frame, beside Ethernet's.
enum FrameLayer : std::uint8_t {
  layer_vlan = 1 << 0,
  layer_ipv4 = 1 << 1,
  layer_ipv6 = 1 << 2,
  layer_tcp = 1 << 3,
  layer_udp = 1 << 4,
  layer_fragment =
      1 << 5,  // the frame has a part of an IP packet; with a port's header, if that is the first
};

struct FrameFacts {
  std::uint8_t layers = 0;          // FrameLayer values
  std::uint32_t hash = 0;           // by which a queue was chosen among several; 0: there was no choice
  wire::FrameChecksums right = {};  // the checksums that were looked at and are right
};

}  // namespace urnic::transport
