// Changes to a frame that lies in one piece, as links and faults make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urnic::link {

// Marks the packet "congestion experienced" if its sender can be told of it (ECT, RFC 3168); the ICRC leaves
// these bits out, the IPv4 header checksum is corrected. False if it cannot be marked.
bool mark_congestion(std::span<std::byte> frame);

// Turns over one bit behind the Ethernet header, chosen by 64 random bits. The number of the bit, counted
// from the frame's first, most significant first.
std::size_t corrupt_somewhere(std::span<std::byte> frame, std::uint64_t random);

// Offset of the BTH; empty if the frame is no RoCEv2 packet.
std::optional<std::size_t> bth_offset(std::span<const std::byte> frame);

// Writes the ICRC that the frame's bytes ask for over the one it has. Nothing happens to what is too short.
void refresh_icrc(std::span<std::byte> frame);

void flip_bit(std::span<std::byte> frame, std::size_t bit);

}  // namespace urnic::link
