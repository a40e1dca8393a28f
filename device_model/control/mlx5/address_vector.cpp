#include "device_model/control/mlx5/address_vector.hpp"

#include <cstring>

namespace urnic::control::mlx5 {
namespace {

// The first bytes of such a MAC address: a locally administered one (IEEE 802), and a mark.
constexpr std::uint8_t kLocal = 0x02;
constexpr std::uint8_t kMark = 'u';

}  // namespace

abi::AddressVector to_address_vector(const ib_uverbs_ah_attr& attributes) {
  abi::AddressVector path{};
  std::memcpy(path.destination_gid, attributes.grh.dgid, sizeof path.destination_gid);
  path.flow_label = attributes.grh.flow_label;
  path.source_gid_index = attributes.grh.sgid_index;
  path.hop_limit = attributes.grh.hop_limit;
  path.traffic_class = attributes.grh.traffic_class;
  path.service_level = attributes.sl;
  path.is_global = attributes.is_global;
  path.port = attributes.port_num;
  path.static_rate = attributes.static_rate;
  return path;
}

abi::AddressVector to_address_vector(const ib_uverbs_qp_dest& destination) {
  abi::AddressVector path{};
  std::memcpy(path.destination_gid, destination.dgid, sizeof path.destination_gid);
  path.flow_label = destination.flow_label;
  path.source_gid_index = destination.sgid_index;
  path.hop_limit = destination.hop_limit;
  path.traffic_class = destination.traffic_class;
  path.service_level = destination.sl;
  path.is_global = destination.is_global;
  path.port = destination.port_num;
  path.static_rate = destination.static_rate;
  return path;
}

ib_uverbs_qp_dest to_destination(const abi::AddressVector& path) {
  ib_uverbs_qp_dest destination{};
  std::memcpy(destination.dgid, path.destination_gid, sizeof destination.dgid);
  destination.flow_label = path.flow_label;
  destination.sgid_index = path.source_gid_index;
  destination.hop_limit = path.hop_limit;
  destination.traffic_class = path.traffic_class;
  destination.sl = path.service_level;
  destination.is_global = path.is_global;
  destination.port_num = path.port;
  destination.static_rate = path.static_rate;
  return destination;
}

wire::MacAddress mac_of_address_handle(std::uint32_t number) {
  return {{kLocal, kMark, static_cast<std::uint8_t>(number >> 24), static_cast<std::uint8_t>(number >> 16),
           static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)}};
}

std::optional<std::uint32_t> address_handle_of(const wire::MacAddress& mac) {
  const auto& b = mac.bytes;
  if (b[0] != kLocal || b[1] != kMark) return std::nullopt;
  return std::uint32_t{b[2]} << 24 | std::uint32_t{b[3]} << 16 | std::uint32_t{b[4]} << 8 | b[5];
}

}  // namespace urnic::control::mlx5
