// Changes to a frame that lies in one piece, as links and faults make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urnic::link {

// What the two ECN bits of an IP packet say (RFC 3168, section 5); a frame that is not IP is `not_capable`.
enum class Ecn : std::uint8_t {
  not_capable,  // 00: the sender does not understand a mark
  capable,      // 01 and 10, ECT: it may be marked
  experienced,  // 11, CE: marked already
};
// `headers` holds at least the frame's Ethernet and IP headers.
Ecn ecn(std::span<const std::byte> headers);

// Marks a packet that is `capable` "congestion experienced", and changes no other. The ICRC does not cover
// these bits; the IPv4 header checksum is corrected. Returns what the packet was before.
Ecn mark_congestion(std::span<std::byte> frame);

// Turns over one bit behind the Ethernet header, chosen by 64 random bits. The number of the bit, counted
// from the frame's first, most significant first.
std::size_t corrupt_somewhere(std::span<std::byte> frame, std::uint64_t random);

// Offset of the BTH; empty if the frame is no RoCEv2 packet.
std::optional<std::size_t> bth_offset(std::span<const std::byte> frame);

// Writes the ICRC that the frame's bytes ask for over the one it has. Nothing happens to what is too short.
void refresh_icrc(std::span<std::byte> frame);

void flip_bit(std::span<std::byte> frame, std::size_t bit);

}  // namespace urnic::link
