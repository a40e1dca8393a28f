// What a packet has behind its network headers, from the BTH to the ICRC.
#pragma once

#include <cstddef>
#include <span>

#include "wire/headers.hpp"
#include "wire/parse_error.hpp"

namespace urnic::wire {

struct TransportExtent {
  std::size_t header_bytes = 0;   // BTH and extended headers
  std::size_t payload_bytes = 0;  // without pad
};

// Reads BTH and extended headers from `bytes`, the beginning of `packet_bytes` from the BTH to the ICRC's
// end. Checks neither the ICRC nor whether the opcode is known.
ParseError parse_transport(std::span<const std::byte> bytes, std::size_t packet_bytes,
                           TransportHeaders& transport, TransportExtent& extent);

}  // namespace urnic::wire
