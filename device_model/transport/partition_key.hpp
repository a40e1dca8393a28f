// Partitions by their keys; whether a packet belongs to that of the QP that it is for (IBTA 10.9.3).
#pragma once

#include <cstdint>

#include "device_model/transport/counters.hpp"
#include "wire/identifiers.hpp"

namespace urnic::transport {

// Whether a port with this key is a full member of its partition, which reaches all members (IBTA 10.9.1.2).
constexpr bool is_full_member(wire::Pkey pkey) { return (pkey.value & 0x8000) != 0; }

// The same partition, whatever the two are in it; 0 is none (IBTA 10.9.1.1).
constexpr bool is_same_partition(wire::Pkey one, wire::Pkey other) {
  constexpr std::uint16_t kPartition = 0x7FFF;
  return (one.value & kPartition) != 0 && ((one.value ^ other.value) & kPartition) == 0;
}

// The same partition, and at least one of the two a full member of it.
constexpr bool pkeys_match(wire::Pkey one, wire::Pkey other) {
  return is_same_partition(one, other) && (is_full_member(one) || is_full_member(other));
}

// The same for a packet that has arrived; one of another partition is counted, and dropped silently.
inline bool is_in_partition(wire::Pkey packet, wire::Pkey own, Counters& counters) {
  if (pkeys_match(packet, own)) [[likely]]
    return true;
  ++counters.pkey_violations;
  return false;
}

}  // namespace urnic::transport
