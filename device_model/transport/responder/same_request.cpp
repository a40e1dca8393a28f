#include "device_model/transport/responder/same_request.hpp"

#include <algorithm>
#include <cstring>

#include "device_model/transport/mix.hpp"

namespace urnic::transport {

bool same_headers(const wire::TransportHeaders& one, const wire::TransportHeaders& other) {
  if (one.bth.opcode != other.bth.opcode || one.bth.psn != other.bth.psn || one.bth.pad != other.bth.pad ||
      one.bth.solicited != other.bth.solicited) {
    return false;
  }
  const std::uint16_t has = wire::traits(one.bth.opcode).headers;
  const auto differ = [has](std::uint16_t header, bool equal) { return (has & header) != 0 && !equal; };
  return !differ(wire::has_xrceth, one.xrceth == other.xrceth) &&
         !differ(wire::has_reth, one.reth == other.reth) &&
         !differ(wire::has_atomic_eth, one.atomic_eth == other.atomic_eth) &&
         !differ(wire::has_immediate, one.immediate == other.immediate) &&
         !differ(wire::has_ieth, one.invalidate == other.invalidate);
}

bool same_request(const InboundPacket& one, const InboundPacket& other) {
  return same_headers(one.headers, other.headers) &&
         std::equal(one.payload.begin(), one.payload.end(), other.payload.begin(), other.payload.end());
}

std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = bytes.size();
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t length = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), length);
    hash = mix(hash, word);
    bytes = bytes.subspan(length);
  }
  return hash;
}

}  // namespace urnic::transport
