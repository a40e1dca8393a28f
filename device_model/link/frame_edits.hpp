// Changes to a frame in one piece, as links and faults make them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/frame.hpp"

namespace urnic::link {

struct EditedFrame {
  std::span<std::byte> bytes;
  wire::LinkLayer link_layer = wire::LinkLayer::ethernet;
};

// The ECN bits of an IP packet (RFC 3168, section 5); `not_capable` for a frame that is not IP.
enum class Ecn : std::uint8_t {
  not_capable,  // 00: the sender does not understand ECN
  capable,      // 01 and 10, ECT: may be marked
  experienced,  // 11, CE: marked already
};
// `frame.headers` holds at least the frame's Ethernet and IP headers.
Ecn ecn(const wire::Frame& frame);

// Marks a `capable` packet "congestion experienced" and corrects the IPv4 header checksum; the ICRC does not
// cover the ECN bits. Changes no other packet. Returns the packet's ECN before.
Ecn mark_congestion(const EditedFrame& frame);

// Inverts one bit behind the Ethernet header and its VLAN tag, or anywhere in a packet of InfiniBand, chosen
// by 64 random bits. Returns the bit's number, counted from the frame's first bit, most significant first.
std::size_t corrupt_somewhere(const EditedFrame& frame, std::uint64_t random);

// Offset of the BTH; empty if there is none.
std::optional<std::size_t> bth_offset(const EditedFrame& frame);

// Computes the frame's ICRC and overwrites the old one. Leaves a frame that is too short unchanged.
void refresh_icrc(const EditedFrame& frame);

void flip_bit(std::span<std::byte> frame, std::size_t bit);

}  // namespace urnic::link
