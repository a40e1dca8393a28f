// The invariant CRC of an InfiniBand packet (IBTA 7.8.1): CRC-32 from the LRH to the last pad byte, with ones
// in the place of what switches and routers may change.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urnic::wire::infiniband {

// `headers` begins with the LRH and ends with or behind the BTH; `payload` and `pad` are what follows, up to
// the ICRC. Returns a host integer; on the wire its least significant byte comes first.
std::uint32_t invariant_crc(std::span<const std::byte> headers, std::span<const std::byte> payload,
                            std::span<const std::byte> pad);

}  // namespace urnic::wire::infiniband
