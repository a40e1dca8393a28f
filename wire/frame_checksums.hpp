// The checksums of the IP packet in an Ethernet frame, which a host leaves to its NIC: IPv4's own (RFC 791
// 3.1), TCP's (RFC 9293 3.1) and UDP's (RFC 768, RFC 8200 8.1). The frame may have VLAN tags, at most two.
// Packets of other protocols and behind extension headers of IPv6 have none here, and of a fragment only
// IPv4's own is known. Nothing in a frame is trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urnic::wire {

struct FrameChecksums {
  bool network = false;    // of IPv4's header
  bool transport = false;  // of TCP or UDP

  bool any() const { return network || transport; }
  friend bool operator==(const FrameChecksums&, const FrameChecksums&) = default;
};

// Writes those that are `wanted` and that the frame has room for; what was in their fields does not matter.
void fill_checksums(std::span<std::byte> frame, FrameChecksums wanted);

// Those that were looked at and are right. An IPv6 header has none: it counts as right. UDP's may be left out
// over IPv4: then nobody can say.
FrameChecksums right_checksums(std::span<const std::byte> frame);

}  // namespace urnic::wire
