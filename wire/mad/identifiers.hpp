// Numbers in management datagrams that must not mix. All are in host byte order.
#pragma once

#include <compare>
#include <cstdint>

#include "wire/local_identifier.hpp"

namespace urnic::wire::mad {

// Joins a request and its answer; the requester chooses it (IBTA 13.4.6). A CM message that answers
// another one repeats that one's number (12.6).
struct TransactionId {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(TransactionId, TransactionId) = default;
};

// A connection's number at one of its two ends, in the view of that end's CM (IBTA 12.9). 0: none.
struct CommunicationId {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(CommunicationId, CommunicationId) = default;
};

// Joins SIDR_REQ and SIDR_REP (IBTA 12.11.1).
struct SidrRequestId {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(SidrRequestId, SidrRequestId) = default;
};

// An EUI-64 of a channel adapter (IBTA 4.1).
struct Guid {
  std::uint64_t value = 0;
  friend constexpr auto operator<=>(Guid, Guid) = default;
};

// RoCE has none: Linux sends 0xFFFF in a REQ.
using wire::Lid;

// What a datagram's sender must know to write to a QP (IBTA 10.2.5).
struct Qkey {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Qkey, Qkey) = default;
};

// The Q_Key of all datagrams to QP1 (IBTA 15.4.2).
inline constexpr Qkey kManagementQkey{0x80010000};

}  // namespace urnic::wire::mad
