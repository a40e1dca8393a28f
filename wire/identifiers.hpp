// Names of things on the wire that are integers in the headers but must never mix in the code.
#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace urnic::wire {

// A 24-bit queue pair number (IBTA 9.2.5).
struct Qpn {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Qpn, Qpn) = default;
};
constexpr Qpn kMulticastQpn{0xFFFFFF};  // IBTA 3.5.10

// A remote key, as RETH, AtomicETH and IETH carry it (IBTA 9.3.3, 9.3.4, 9.3.7).
struct Rkey {
  std::uint32_t value = 0;
  friend constexpr auto operator<=>(Rkey, Rkey) = default;
};

// A partition key; bit 15 is full membership (IBTA 10.9.3).
struct Pkey {
  std::uint16_t value = 0xFFFF;
  friend constexpr auto operator<=>(Pkey, Pkey) = default;
};

// A 24-bit message sequence number (IBTA 9.7.7.1). Arithmetic is modulo 2^24.
struct Msn {
  std::uint32_t value = 0;
  friend constexpr bool operator==(Msn, Msn) = default;
  constexpr Msn next() const { return Msn{(value + 1) & 0xFFFFFF}; }
};

// Immediate data: 4 bytes that pass through the NIC untouched, in the order they have on the wire.
struct Immediate {
  std::array<std::uint8_t, 4> bytes{};
  friend constexpr bool operator==(const Immediate&, const Immediate&) = default;
};

// A 128-bit GID in wire order. RoCEv2 GIDs are IPv6 addresses or IPv4-mapped ones (IBTA A17.4.1.1).
struct Gid {
  std::array<std::uint8_t, 16> bytes{};
  friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
};

inline Gid to_gid(const std::uint8_t (&bytes)[16]) { return {std::to_array(bytes)}; }

// An Ethernet address in wire order.
struct MacAddress {
  std::array<std::uint8_t, 6> bytes{};
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

}  // namespace urnic::wire
