// Ethernet frames of packets that were captured without an Ethernet header.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "analysis/capture_files/captured_packet.hpp"

namespace urnic::analysis {

// None of these is for packets of InfiniBand (erf_record.hpp).

// How much longer the frame is than the packet; negative if the link's own header is the longer one.
int frame_growth(LinkType type);

// The frame of a packet: itself on Ethernet; otherwise its IP packet behind an Ethernet header in which the
// destination is zero, and the source too unless a cooked header names it. The frame may lie in `storage`.
// Empty: the packet is shorter than its link's header.
std::optional<std::span<const std::byte>> ethernet_frame(LinkType type, std::span<const std::byte> packet,
                                                         std::vector<std::byte>& storage);

}  // namespace urnic::analysis
