// Converts between `NetworkHeaders` and the bytes in front of the BTH of a packet of InfiniBand: LRH, perhaps
// a GRH.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "wire/byte_order.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/network_codec.hpp"
#include "wire/network_headers.hpp"
#include "wire/parse_error.hpp"

namespace urnic::wire::infiniband {

// Bytes from the LRH to the end of the GRH, where there is one.
std::size_t route_size(const LocalRoute& local);

// Writes `route_size(local)` bytes to `to`; `local` is `network.local`. Lengths are left 0: `complete_route`
// fills them in, where `behind` bytes from the BTH to the ICRC follow the `size` bytes of the route.
void encode_route(const NetworkHeaders& network, const LocalRoute& local, std::byte* to);
void complete_route(std::byte* route, std::size_t size, std::size_t behind);

// Reads LRH and GRH at the beginning of a packet of `packet_bytes` bytes, without the VCRC. `headers` is the
// packet's first piece. On `none`, `extent` is set, with extent.header_bytes <= headers.size().
// Not inlined: readers of Ethernet frames would pay for it.
[[gnu::noinline]] ParseError parse_route(std::span<const std::byte> headers, std::size_t packet_bytes,
                                         NetworkHeaders& network, NetworkExtent& extent);

// Looks at a packet's first bytes only, whatever follows. Permissive, to which there is no route, if it is
// too short for an LRH.
inline Lid destination_of(std::span<const std::byte> headers) {
  if (headers.size() < kLocalRouteBytes) return kPermissiveLid;
  return {load_be16(headers.data() + kDestinationLidOffset)};
}
// Whether a packet's destination is the LID of a group.
inline bool is_to_group(std::span<const std::byte> headers) { return is_multicast(destination_of(headers)); }
// Offset of the BTH; empty: the packet has none. Fewer bytes may be there.
std::optional<std::size_t> transport_offset(std::span<const std::byte> headers);

}  // namespace urnic::wire::infiniband
