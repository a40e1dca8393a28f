// The frame of a packet that a UDP socket has received: the socket delivers what follows the UDP header.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "wire/frame.hpp"
#include "wire/network_headers.hpp"
#include "wire/parse_error.hpp"

namespace urnic::wire {

// Sets `frame` to the frame of `datagram`, which begins at the BTH. Its headers are written to `storage`, the
// network headers from `network`, which has no VLAN; its payload and trailer stay in `datagram`. The IPv4
// Identification is the one with which the ICRC is right, found fastest if it is that of `network`; 0, which
// `parse` then refuses, if there is none. The UDP checksum is 0. An error: the datagram is no packet, and
// `frame` is not set.
ParseError frame_of_datagram(const NetworkHeaders& network, std::span<const std::byte> datagram,
                             std::array<std::byte, kMaxHeaderBytes>& storage, Frame& frame);

}  // namespace urnic::wire
