// Which packets a send request becomes (IBTA 9.7.2, 9.7.3, 9.4): a message is cut at the path MTU; a READ or
// an atomic is one packet. Pure functions: any packet can be made from its place in the request.
#pragma once

#include <cstdint>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/work_request.hpp"
#include "wire/headers.hpp"

namespace urnic::transport {

// No packets: bind, local invalidate.
constexpr bool is_local(WorkOpcode opcode) {
  return opcode == WorkOpcode::local_invalidate || opcode == WorkOpcode::bind_memory_window;
}
constexpr bool is_atomic(WorkOpcode opcode) {
  return opcode == WorkOpcode::atomic_compare_swap || opcode == WorkOpcode::atomic_fetch_add;
}
// Answered by a response of its own: counts against max_rd_atomic. An ATOMIC WRITE is, by a READ response
// without data (IBTA A19).
constexpr bool is_read_or_atomic(WorkOpcode opcode) {
  return opcode == WorkOpcode::rdma_read || is_atomic(opcode) || opcode == WorkOpcode::atomic_write;
}
// Takes a receive WQE of the peer (IBTA 9.7.7.2).
constexpr bool consumes_receive(WorkOpcode opcode) {
  return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
         opcode == WorkOpcode::send_with_invalidate || opcode == WorkOpcode::rdma_write_with_immediate;
}
constexpr bool known(WorkOpcode opcode) {
  return opcode <= WorkOpcode::send_with_invalidate || opcode == WorkOpcode::atomic_write;
}

// PSNs that the request takes: one per packet, for a READ one per response packet (IBTA 9.7.3.1), at least
// one; none for local operations.
std::uint32_t packet_count(const SendRequest& request, std::uint32_t path_mtu);

// Where a packet's payload lies in its message, and how many PSNs the packet takes.
struct Segment {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  std::uint32_t packets = 1;
};

// Fills opcode, solicited bit, pad and extended headers of the packet at place `at` of `request`, which takes
// `count` PSNs in all. For a READ, `wanted` says how many response packets to ask for from there (IBTA
// 9.4.4: a READ may be retried from a later PSN with the address advanced); others ignore it. `service` is rc
// or xrc.
Segment build_request(const SendRequest& request, std::uint32_t at, std::uint32_t count, std::uint32_t wanted,
                      std::uint32_t path_mtu, wire::TransportHeaders& headers,
                      wire::Service service = wire::Service::rc);

// As above for an unreliable connection, whose requests are SENDs and RDMA WRITEs.
Segment build_unreliable_request(const SendRequest& request, std::uint32_t at, std::uint32_t count,
                                 std::uint32_t path_mtu, wire::TransportHeaders& headers);

}  // namespace urnic::transport
