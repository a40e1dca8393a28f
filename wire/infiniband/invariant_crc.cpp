#include "wire/infiniband/invariant_crc.hpp"

#include <algorithm>
#include <array>

#include "wire/icrc.hpp"
#include "wire/infiniband/global_route_header.hpp"
#include "wire/infiniband/local_route_header.hpp"

namespace urnic::wire::infiniband {
namespace {

constexpr std::size_t kBthBytes = 12;
constexpr std::size_t kMostMasked = kLocalRouteBytes + kGlobalRouteBytes + kBthBytes;
constexpr std::size_t kReservedInBth = 4;  // FECN, BECN and the six reserved bits beside them

// The virtual lane may change at each hop; with a GRH a router writes a whole new LRH, and parts of the GRH.
void mask(std::byte* headers, bool has_global_route) {
  const auto ones = [&](std::size_t at) { headers[at] = std::byte{0xFF}; };
  if (!has_global_route) {
    headers[0] |= std::byte{0xF0};
    return ones(kLocalRouteBytes + kReservedInBth);
  }
  for (std::size_t at = 0; at < kLocalRouteBytes; ++at) ones(at);
  std::byte* const global = headers + kLocalRouteBytes;
  global[0] |= std::byte{0x0F};                                            // traffic class, upper four bits
  for (const std::size_t at : {1, 2, 3, 7}) global[at] = std::byte{0xFF};  // the rest, flow label, hop limit
  ones(kLocalRouteBytes + kGlobalRouteBytes + kReservedInBth);
}

}  // namespace

std::uint32_t invariant_crc(std::span<const std::byte> headers, std::span<const std::byte> payload,
                            std::span<const std::byte> pad) {
  const bool has_global_route = decode_local_route(headers.data()).next == NextHeader::global;
  std::array<std::byte, kMostMasked> masked;
  const std::size_t routes = kLocalRouteBytes + (has_global_route ? kGlobalRouteBytes : 0);
  const std::size_t bytes = routes + kBthBytes;
  std::copy_n(headers.begin(), bytes, masked.begin());
  mask(masked.data(), has_global_route);
  const std::uint32_t routes_and_bth = crc32(0, std::span(masked).first(bytes));
  return crc32(crc32(crc32(routes_and_bth, headers.subspan(bytes)), payload), pad);
}

}  // namespace urnic::wire::infiniband
