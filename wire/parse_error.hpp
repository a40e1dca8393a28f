// Why a frame was refused. A receiver drops such a frame silently and counts it (IBTA 9.6). Exception: a
// responder refuses a reserved opcode of a reliable service (IBTA 9.7.4.1.4).
#pragma once

#include <cstdint>

namespace urnic::wire {

enum class ParseError : std::uint8_t {
  none,
  truncated,   // shorter than its headers say, or the lengths in its headers contradict each other
  not_roce,    // not IP, with IPv4 options, not UDP or not port 4791
  raw_packet,  // of InfiniBand: no BTH follows its LRH or GRH, or its link version is another
  fragment,    // an IP fragment; RoCEv2 packets are never fragmented (IBTA A17.3.1.1.5)
  bad_ip_checksum,
  bad_udp_checksum,  // neither 0 nor right
  bad_transport_version,
  bad_length,  // a payload where the opcode has none, or one above the largest path MTU
  bad_pad,     // payload and pad together no multiple of four, or more pad than there are bytes
  bad_icrc,
  unknown_opcode,  // the only error: all that does not depend on the opcode has been read and is right
};

// A phrase for logs, such as "IPv4 header checksum is wrong"; static storage.
const char* describe(ParseError error);

}  // namespace urnic::wire
