// The sockets of a UDP port, which an ordinary user may open.
//
// The ICRC covers fields of the IPv4 header that the kernel writes (IBTA A17.3.3): Identification and flags.
// Linux sends Identification 0 and DF from a socket that is not connected and forbids fragments. So these
// sockets are never connected.
#pragma once

#include <cstdint>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// The hop limit of packets whose sender asks for no other one.
inline constexpr int kUdpHopLimit = 64;

// Bound to `address` and `port`. Buffers are as large as the kernel lets this user have, up to 4 MiB.
// Received datagrams come with their TOS and TTL, or traffic class and hop limit, and with the number of
// datagrams that the kernel has dropped. Throws std::system_error with a sentence.
memory::Descriptor open_udp_socket(const wire::Gid& address, std::uint32_t scope, std::uint16_t port);

// A socket that only sends, from a source port between 0xC000 and 0xFFFF, which `port` is set to (IBTA
// A17.3.2.1). It discards what it receives.
memory::Descriptor open_sending_socket(const wire::Gid& address, std::uint32_t scope, std::uint16_t& port);

// How many packets with `payload_bytes` the receive buffer of a socket like this one holds.
std::uint32_t packets_in_buffer(int socket, std::uint32_t payload_bytes);

// Datagrams that wait at this socket take more than half of its receive buffer.
bool is_filling(int socket);

// Datagrams that the kernel dropped at this socket, since it was opened.
std::uint64_t kernel_drops(int socket);

}  // namespace urnic::link
