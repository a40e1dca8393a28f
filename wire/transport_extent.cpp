#include "wire/transport_extent.hpp"

#include "wire/frame.hpp"
#include "wire/icrc.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::wire {

ParseError parse_transport(std::span<const std::byte> bytes, std::size_t datagram_bytes,
                           TransportHeaders& transport, TransportExtent& extent) {
  if (bytes.size() < kBthBytes) return ParseError::truncated;
  parse_bth(bytes.data(), transport.bth);
  if (transport.bth.version != 0) return ParseError::bad_transport_version;
  const OpcodeTraits& opcode = traits(transport.bth.opcode);
  extent.header_bytes = transport_header_size(transport.bth.opcode);
  if (bytes.size() < extent.header_bytes || datagram_bytes < extent.header_bytes + kIcrcBytes) {
    return ParseError::truncated;
  }
  parse_extended(bytes.data() + kBthBytes, transport);

  const std::size_t padded = datagram_bytes - extent.header_bytes - kIcrcBytes;
  if (padded % 4 != 0 || transport.bth.pad > padded) return ParseError::bad_pad;
  extent.payload_bytes = padded - transport.bth.pad;
  if (padded != 0 && opcode.known && !opcode.carries_payload) return ParseError::bad_length;
  if (extent.payload_bytes > kMaxPayloadBytes) return ParseError::bad_length;
  return ParseError::none;
}

}  // namespace urnic::wire
