// What a UDP port sent and received, and what was dropped where.
#pragma once

#include <cstdint>

namespace urnic::link {

struct UdpCounters {
  std::uint64_t sent = 0;           // datagrams
  std::uint64_t send_calls = 0;     // system calls
  std::uint64_t received = 0;       // datagrams
  std::uint64_t receive_calls = 0;  // that had something
  std::uint64_t marked = 0;  // "congestion experienced": the socket's buffer was filling, or had been full
  // Frames that did not leave.
  std::uint64_t not_sendable =
      0;                       // no RoCEv2 packet from an address of this port, or damaged in its IP header
  std::uint64_t too_long = 0;  // for the interface or the path (EMSGSIZE)
  std::uint64_t unreachable = 0;  // no way to the destination (ENETUNREACH, EHOSTUNREACH, ECONNREFUSED, …)
  std::uint64_t no_buffer = 0;    // the kernel had no room for more (EAGAIN, ENOBUFS)
  std::uint64_t refused = 0;      // by the kernel for another reason, such as a firewall's (EPERM)
  // Datagrams that did not come in.
  std::uint64_t malformed = 0;     // too short, too long, or of lengths that contradict each other
  std::uint64_t kernel_drops = 0;  // by the kernel: the socket's buffer was full, or a checksum was wrong
};

}  // namespace urnic::link
