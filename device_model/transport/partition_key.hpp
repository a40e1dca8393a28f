// Whether a packet belongs to the partition of the QP that it is for (IBTA 10.9.3).
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::transport {

// The same partition, and at least one of the two a full member of it.
inline bool pkeys_match(wire::Pkey one, wire::Pkey other) {
  constexpr std::uint16_t kFullMember = 0x8000;
  const auto same = ((one.value ^ other.value) & ~kFullMember) == 0;
  return same && ((one.value | other.value) & kFullMember) != 0 && (one.value & ~kFullMember) != 0;
}

}  // namespace urnic::transport
