#include "device_model/control/rdma_cm/address_vector.hpp"

#include <algorithm>

#include "device_model/control/fabric/limits.hpp"

namespace urnic::control::rdma_cm {

namespace {

// Within the subnet, where packets need no GRH.
ib_uverbs_ah_attr local_address_vector(const cm::Path& path) {
  constexpr std::uint16_t kPathBits = 0x7F;  // an LMC is 7 at most (IBTA 4.1.3)
  ib_uverbs_ah_attr attributes{};
  attributes.dlid = path.peer_lid.value;
  attributes.src_path_bits = static_cast<std::uint8_t>(path.own_lid.value & kPathBits);
  attributes.sl = path.service_level;
  attributes.static_rate = path.rate;
  attributes.port_num = limits::kPorts;
  return attributes;
}

}  // namespace

ib_uverbs_ah_attr address_vector(const LocalAddress& local, const cm::Path& path) {
  if (local.device->adapter) return local_address_vector(path);
  const auto& gids = local.device->settings.gids;
  const auto index = std::find(gids.begin(), gids.end(), path.own) - gids.begin();
  ib_uverbs_ah_attr attributes{};
  std::copy(path.peer.bytes.begin(), path.peer.bytes.end(), attributes.grh.dgid);
  attributes.grh.flow_label = path.flow_label;
  attributes.grh.sgid_index = static_cast<std::uint8_t>(index);
  attributes.grh.hop_limit = path.hop_limit;
  attributes.grh.traffic_class = path.traffic_class;
  attributes.sl = path.service_level;
  attributes.is_global = 1;
  attributes.port_num = limits::kPorts;
  return attributes;
}

// Packets to a group have a GRH (IBTA 10.5.2).
ib_uverbs_ah_attr address_vector(const wire::mad::MulticastMemberRecord& group) {
  ib_uverbs_ah_attr attributes{};
  std::copy(group.group.bytes.begin(), group.group.bytes.end(), attributes.grh.dgid);
  attributes.grh.flow_label = group.flow_label;
  attributes.grh.hop_limit = group.hop_limit;
  attributes.grh.traffic_class = group.traffic_class;
  attributes.dlid = group.group_lid.value;
  attributes.sl = group.service_level;
  attributes.static_rate = group.rate;
  attributes.is_global = 1;
  attributes.port_num = limits::kPorts;
  return attributes;
}

}  // namespace urnic::control::rdma_cm
