// Converts between `TransportHeaders` and the bytes of BTH and extended headers. The opcode alone says which
// extended headers a packet has (IBTA 9.2.1, table 38).
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/headers.hpp"

namespace urnic::wire {

inline constexpr std::size_t kBthBytes = 12;

// BTH and the longest chain of extended headers: XRCETH and AtomicETH.
inline constexpr std::size_t kMaxTransportHeaderBytes = kBthBytes + 4 + 28;

// Bytes of the BTH and the extended headers of packets of `opcode`; kBthBytes for an unknown opcode.
std::size_t transport_header_size(Opcode opcode);

// Writes `transport_header_size(headers.bth.opcode)` bytes to `to`, with `pad` in place of `headers.bth.pad`.
// Fields narrower than their type are cut to their width.
void encode_transport(const TransportHeaders& headers, std::uint8_t pad, std::byte* to);

// Reads the BTH from kBthBytes bytes at `from`.
void parse_bth(const std::byte* from, Bth& bth);

// Reads the extended headers of `headers.bth.opcode` from `from`, the first byte behind the BTH. There must
// be `transport_header_size(opcode) - kBthBytes` bytes. Members that the opcode does not use keep their
// values.
void parse_extended(const std::byte* from, TransportHeaders& headers);

}  // namespace urnic::wire
