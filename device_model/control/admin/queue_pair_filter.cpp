#include "device_model/control/admin/queue_pair_filter.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::control {

// The destination is in the BTH's second word, behind the reserved byte (IBTA 9.2).
bool QueuePairFilter::is_at(const wire::Frame& frame, std::size_t bth) const {
  const auto bytes = frame.headers;
  if (bytes.size() < bth + wire::kBthBytes) return false;
  return (wire::load_be32(bytes.data() + bth + 4) & 0xFFFFFF) == queue_pair.value;
}

// All headers of a packet lie in one piece.
bool QueuePairFilter::is_for_it(const wire::Frame& frame) const {
  constexpr std::byte kIpv4{0x08};  // of 0x0800
  const auto bytes = frame.headers;
  if (frame.link_layer == wire::LinkLayer::infiniband) {
    const auto bth = wire::infiniband::transport_offset(bytes);
    return lids != nullptr && bth && is_at(frame, *bth) &&
           wire::has_lid(lids->base, lids->lmc, wire::infiniband::destination_of(bytes));
  }
  if (bytes.size() < wire::kEthernetBytes) return false;
  const std::size_t ethernet = wire::ethernet_header_size(bytes.data());
  if (bytes.size() < ethernet) return false;
  const std::size_t ip = bytes[ethernet - 2] == kIpv4 ? wire::kIpv4Bytes : wire::kIpv6Bytes;
  return is_at(frame, ethernet + ip + wire::kUdpBytes) &&
         std::memcmp(bytes.data(), device.bytes.data(), device.bytes.size()) == 0;
}

}  // namespace urnic::control
