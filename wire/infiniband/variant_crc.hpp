// The variant CRC of an InfiniBand packet (IBTA 7.8.2): 16 bits over all bytes from the LRH to the ICRC, made
// anew for each link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace urnic::wire::infiniband {

inline constexpr std::size_t kVariantCrcBytes = 2;

// Returns a host integer; on the wire its least significant byte comes first.
std::uint16_t variant_crc(std::span<const std::byte> bytes);
// Writes the VCRC of `bytes` to `to`, as it is on the wire.
void store_variant_crc(std::span<const std::byte> bytes, std::byte* to);
// Puts the VCRC of `packet` behind it.
void append_variant_crc(std::vector<std::byte>& packet);
// Whether the last two bytes of `packet` are the VCRC of those before.
bool has_right_variant_crc(std::span<const std::byte> packet);

}  // namespace urnic::wire::infiniband
