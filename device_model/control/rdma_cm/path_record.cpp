#include "device_model/control/rdma_cm/path_record.hpp"

#include "device_model/control/rdma_cm/identifiers.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"
#include "wire/local_identifier.hpp"

namespace urnic::control::rdma_cm {

PathRequest path_request(const Id& id) {
  namespace component = wire::mad::path_component;
  PathRequest request;
  wire::mad::PathRecord& record = request.record;
  record.source = id.local->gid;
  record.destination = id.peer;
  record.pkey = partition_of(id);
  record.paths = 1;
  record.is_reversible = true;
  record.service = service_of(id, id.endpoints.destination);
  request.components = component::kDestination | component::kSource | component::kPkey | component::kPaths |
                       component::kReversible | component::kService;
  if (id.endpoints.source.family == Family::ip4) {
    record.quality_class = id.type_of_service;
    request.components |= component::kQualityClass;
  } else {
    constexpr unsigned kFlowLabelBits = 20;
    record.traffic_class = static_cast<std::uint8_t>(id.endpoints.source.flow_info >> kFlowLabelBits);
    request.components |= component::kTrafficClass;
  }
  return request;
}

wire::mad::PathRecord to_record(const cm::Path& path) {
  wire::mad::PathRecord record;
  record.destination = path.peer;
  record.source = path.own;
  record.destination_lid = path.peer_lid;
  record.source_lid = path.own_lid;
  record.flow_label = path.flow_label;
  record.hop_limit = path.hop_limit;
  record.traffic_class = path.traffic_class;
  record.is_reversible = true;
  record.pkey = path.pkey;
  record.service_level = path.service_level;
  record.mtu_selector = record.rate_selector = record.packet_lifetime_selector = wire::mad::kExactly;
  record.mtu = static_cast<std::uint8_t>(path.mtu);
  record.rate = path.rate;
  record.packet_lifetime = path.packet_lifetime.value;
  return record;
}

std::optional<cm::Path> to_path(const wire::mad::PathRecord& record) {
  const auto mtu = static_cast<wire::mad::MtuCode>(record.mtu);
  if (!wire::is_unicast(record.destination_lid) || !wire::is_unicast(record.source_lid)) return {};
  if (mtu < wire::mad::MtuCode::bytes_256 || mtu > wire::mad::MtuCode::bytes_4096) return {};
  cm::Path path;
  path.own = record.source;
  path.peer = record.destination;
  path.flow_label = record.flow_label;
  path.traffic_class = record.traffic_class;
  path.hop_limit = record.hop_limit;
  path.service_level = record.service_level;
  path.own_lid = record.source_lid;
  path.peer_lid = record.destination_lid;
  path.rate = record.rate;
  path.mtu = mtu;
  path.packet_lifetime = {static_cast<std::uint8_t>(record.packet_lifetime & 31)};
  path.pkey = record.pkey;
  return path;
}

}  // namespace urnic::control::rdma_cm
