// A record of ERF, in which captures hold packets of InfiniBand (docs/captures.md): a header of 16 bytes,
// perhaps further headers of eight, the packet with its VCRC, and bytes that fill it up to a multiple of
// eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urnic::analysis {

struct ErfPacket {
  std::span<const std::byte> bytes;  // of the record: from the LRH on, as far as it was captured
  std::uint32_t original_bytes = 0;  // from the LRH to the VCRC, as on the wire
};

// The packet of `record`, of which a file may have the first bytes only. Empty, of 0 bytes, if its headers
// are cut. Throws CaptureError if the record is of another kind than InfiniBand's, or its length is wrong.
ErfPacket infiniband_packet(std::span<const std::byte> record);

}  // namespace urnic::analysis
