// Where the parts of a TCP segment lie in its Ethernet frame, and the check sums that depend on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace urnic::link {

// Offsets in the frame.
struct TcpLayout {
  bool ipv6 = false;
  std::size_t ip = 0;
  std::size_t tcp = 0;
  std::size_t payload = 0;
};

// Of a frame with one TCP segment that ends with the frame. Empty: another frame, also a fragment, one with
// two VLAN tags, or with extension headers of IPv6. Nothing in `frame` is trusted; check sums are not looked
// at.
std::optional<TcpLayout> tcp_layout(std::span<const std::byte> frame);

// The sum of IPv4's header and of TCP's segment are right.
bool has_right_checksums(std::span<const std::byte> frame, const TcpLayout& layout);
// The IP packet ends with the frame, which has `frame_bytes`, of which the headers suffice here: sets IP's
// length to that, and IPv4's check sum.
void set_ip_length(std::span<std::byte> headers, const TcpLayout& layout, std::size_t frame_bytes);
// Sets TCP's check sum (RFC 9293 3.1).
void set_tcp_checksum(std::span<std::byte> frame, const TcpLayout& layout);
// Sets the field to the sum of the pseudo header alone, as a host does that leaves the rest to its interface.
void begin_tcp_checksum(std::span<std::byte> headers, const TcpLayout& layout, std::size_t frame_bytes);

}  // namespace urnic::link
