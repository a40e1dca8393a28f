// Changes to a contiguous frame, as links and faults make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urnic::link {

// The ECN bits of an IP packet (RFC 3168, section 5); `not_capable` for a frame that is not IP.
enum class Ecn : std::uint8_t {
  not_capable,  // 00: the sender does not understand ECN
  capable,      // 01 and 10, ECT: may be marked
  experienced,  // 11, CE: marked already
};
// `headers` holds at least the frame's Ethernet and IP headers.
Ecn ecn(std::span<const std::byte> headers);

// Marks a `capable` packet "congestion experienced" and corrects the IPv4 header checksum; the ICRC does not
// cover the ECN bits. Changes no other packet. Returns the packet's ECN before.
Ecn mark_congestion(std::span<std::byte> frame);

// Inverts one bit behind the Ethernet header and its VLAN tag, chosen by 64 random bits. Returns the bit's
// number, counted from the frame's first bit, most significant first.
std::size_t corrupt_somewhere(std::span<std::byte> frame, std::uint64_t random);

// Offset of the BTH; empty if the frame is not a RoCEv2 packet.
std::optional<std::size_t> bth_offset(std::span<const std::byte> frame);

// Computes the frame's ICRC and overwrites the old one. Leaves a frame that is too short unchanged.
void refresh_icrc(std::span<std::byte> frame);

void flip_bit(std::span<std::byte> frame, std::size_t bit);

}  // namespace urnic::link
