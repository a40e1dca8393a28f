// IPv4 addresses as GIDs: ::ffff:a.b.c.d (IBTA A17.4.1.1, RFC 4291 2.5.5.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "wire/identifiers.hpp"

namespace urnic::wire {

inline constexpr std::size_t kIpv4AddressBytes = 4;
inline constexpr std::array<std::uint8_t, 12> kIpv4MappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

inline void load_ipv4(const std::byte* from, Gid& gid) {
  std::memcpy(gid.bytes.data(), kIpv4MappedPrefix.data(), kIpv4MappedPrefix.size());
  std::memcpy(gid.bytes.data() + kIpv4MappedPrefix.size(), from, kIpv4AddressBytes);
}

// `gid` is IPv4-mapped.
inline void store_ipv4(std::byte* to, const Gid& gid) {
  std::memcpy(to, gid.bytes.data() + kIpv4MappedPrefix.size(), kIpv4AddressBytes);
}

}  // namespace urnic::wire
