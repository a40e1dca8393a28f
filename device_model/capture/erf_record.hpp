// How a capture holds a packet of InfiniBand: as a record of ERF, the only form of one that Wireshark 4.0
// reads (link type 197; docs/captures.md). A header, the packet with its VCRC, and zeros up to a multiple of
// eight.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urnic::capture {

inline constexpr std::size_t kErfHeaderBytes = 16;

// Of a packet that is cut, so many bytes are kept: a multiple of eight, so that no zeros behind them pass for
// the packet's own.
constexpr std::size_t erf_snapshot_bytes(std::size_t wanted) { return wanted & ~std::size_t{7}; }

// Of a packet of `packet_bytes`, without its VCRC, of which `kept` bytes are kept: only a whole packet has
// its VCRC there.
std::size_t erf_record_bytes(std::size_t packet_bytes, std::size_t kept);

// Writes header, VCRC and zeros around the `kept` bytes of the packet, which lie kErfHeaderBytes behind the
// record's beginning. `record` has erf_record_bytes(). `nanoseconds`: since the Unix epoch.
void complete_erf_record(std::span<std::byte> record, std::size_t packet_bytes, std::size_t kept,
                         std::uint64_t nanoseconds);

// The packet in a record, with its VCRC if it is whole. Empty if the record has no packet.
struct ErfPacket {
  std::span<const std::byte> bytes{};
  std::size_t original_bytes = 0;  // before it was cut
};
ErfPacket packet_in_erf_record(std::span<const std::byte> record);

}  // namespace urnic::capture
