// Between the bytes of BTH and extended headers and `TransportHeaders`. Which extended headers there are
// follows from the opcode alone (IBTA 9.2.1, table 38), but for our own selective-ack header
// (docs/selective-acks.md).
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/aeth.hpp"
#include "wire/headers.hpp"

namespace urnic::wire {

inline constexpr std::size_t kBthBytes = 12;

// BTH and the longest chain of extended headers: XRCETH and AtomicETH.
inline constexpr std::size_t kMaxTransportHeaderBytes = kBthBytes + 4 + 28;

inline constexpr std::size_t kSelectiveAckBytes = 12;

// Bytes of the BTH and the extended headers that the specification gives to packets of `opcode`; kBthBytes
// for an unknown opcode.
std::size_t transport_header_size(Opcode opcode);

// A SelectiveAckEth follows the AETH: the packet is an RC or XRC acknowledge that says NAK "PSN sequence
// error", and its selective-ack bit is set. Looks at the bit first, which hardly any packet has.
constexpr bool carries_selective_ack(const TransportHeaders& headers) {
  const Opcode opcode = headers.bth.opcode;
  return headers.bth.selective_ack &&
         (opcode == Opcode(Service::rc, Operation::acknowledge) ||
          opcode == Opcode(Service::xrc, Operation::acknowledge)) &&
         kind(headers.aeth.syndrome) == AethKind::nak &&
         code(headers.aeth.syndrome) == static_cast<std::uint8_t>(NakCode::psn_sequence_error);
}

// Bytes of all headers from the BTH on that `headers` become.
std::size_t transport_header_size(const TransportHeaders& headers);

// Writes `transport_header_size(headers)` bytes to `to`, with `pad` in place of `headers.bth.pad`.
// Fields narrower than their type are cut to their width.
void encode_transport(const TransportHeaders& headers, std::uint8_t pad, std::byte* to);

// Reads the BTH from kBthBytes bytes at `from`.
void parse_bth(const std::byte* from, Bth& bth);

// Reads the extended headers that `headers.bth.opcode` asks for from the bytes behind the BTH at `from`;
// there must be `transport_header_size(opcode) - kBthBytes` of them. Members that the opcode does not use
// keep their values.
void parse_extended(const std::byte* from, TransportHeaders& headers);

// Reads a selective-ack header from kSelectiveAckBytes bytes at `from`.
void parse_selective_ack(const std::byte* from, SelectiveAckEth& selective_ack);

}  // namespace urnic::wire
