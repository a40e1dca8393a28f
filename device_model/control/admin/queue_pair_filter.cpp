#include "device_model/control/admin/queue_pair_filter.hpp"

#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::control {

// All headers of a RoCEv2 frame lie in one piece. The destination is in the BTH's second word, behind the
// reserved byte (IBTA 9.2).
bool QueuePairFilter::is_for_it(const wire::Frame& frame) const {
  constexpr std::byte kIpv4{0x08};  // of 0x0800
  const auto bytes = frame.headers;
  if (bytes.size() < wire::kEthernetBytes) return false;
  const std::size_t ethernet = wire::ethernet_header_size(bytes.data());
  if (bytes.size() < ethernet) return false;
  const std::size_t ip = bytes[ethernet - 2] == kIpv4 ? wire::kIpv4Bytes : wire::kIpv6Bytes;
  const std::size_t bth = ethernet + ip + wire::kUdpBytes;
  if (bytes.size() < bth + wire::kBthBytes) return false;
  if ((wire::load_be32(bytes.data() + bth + 4) & 0xFFFFFF) != queue_pair.value) return false;
  return std::memcmp(bytes.data(), device.bytes.data(), device.bytes.size()) == 0;
}

}  // namespace urnic::control
