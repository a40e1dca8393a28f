// The invariant CRC of RoCEv2 (IBTA 7.8.1, A17.3.3): CRC-32 over a pseudo header of eight 0xFF bytes and the
// packet from the IP header on, with the fields that routers may change replaced by ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urnic::wire {

constexpr std::size_t kIcrcBytes = 4;

// The ICRC of a frame; `headers` begins at the Ethernet header. Returns a host integer; on the wire its least
// significant byte comes first.
std::uint32_t icrc(std::span<const std::byte> headers, std::span<const std::byte> payload,
                   std::span<const std::byte> pad);

// CRC-32 of IEEE 802.3 over `bytes`, of which the ICRC is made, too.
std::uint32_t crc32(std::span<const std::byte> bytes);
// The same over bytes that `crc` covers, and `bytes` behind them.
std::uint32_t crc32(std::uint32_t crc, std::span<const std::byte> bytes);

}  // namespace urnic::wire
