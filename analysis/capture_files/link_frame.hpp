// What a capture's record of a packet says of it, by the link type of its interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/capture_files/captured_packet.hpp"

namespace urnic::analysis {

// Sets link layer, bytes and length of `packet`. `record`: as far as it was captured, of `original` bytes.
// The packet's bytes lie in `record` or in `storage`; a packet that is shorter than its link's header has
// none. Throws CaptureError if no packet of this link type can be read, or the record is damaged.
void set_frame(CapturedPacket& packet, LinkType link, std::span<const std::byte> record,
               std::uint32_t original, std::vector<std::byte>& storage);

}  // namespace urnic::analysis
