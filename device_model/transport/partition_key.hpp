// Whether a packet belongs to the partition of the QP that it is for (IBTA 10.9.3).
#pragma once

#include <cstdint>

#include "device_model/transport/counters.hpp"
#include "wire/identifiers.hpp"

namespace urnic::transport {

// The same partition, and at least one of the two a full member of it.
inline bool pkeys_match(wire::Pkey one, wire::Pkey other) {
  constexpr std::uint16_t kFullMember = 0x8000;
  const auto same = ((one.value ^ other.value) & ~kFullMember) == 0;
  return same && ((one.value | other.value) & kFullMember) != 0 && (one.value & ~kFullMember) != 0;
}

// The same for a packet that has arrived; one of another partition is counted, and dropped silently.
inline bool is_in_partition(wire::Pkey packet, wire::Pkey own, Counters& counters) {
  if (pkeys_match(packet, own)) [[likely]]
    return true;
  ++counters.pkey_violations;
  return false;
}

}  // namespace urnic::transport
