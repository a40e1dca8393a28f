// QUERY_ROUTE, QUERY.
#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/rdma_cm/commands.hpp"
#include "device_model/control/rdma_cm/infiniband_addresses.hpp"
#include "device_model/control/rdma_cm/path_record.hpp"

namespace urnic::control::rdma_cm {
namespace {

// No index: libibverbs would compare it with the kernel's number of the device.
constexpr std::uint32_t kNoDeviceIndex = 0xFFFFFFFF;

template <class Native>
std::span<std::byte> bytes_of(Native& native) {
  return std::as_writable_bytes(std::span(&native, 1));
}

std::uint64_t node_guid(const ServedDevice& device) {
  std::uint64_t guid = 0;
  std::memcpy(&guid, device.node_guid.data(), sizeof guid);
  return guid;
}

void copy_gid(const wire::Gid& gid, std::uint8_t (&bytes)[16]) {
  std::copy(gid.bytes.begin(), gid.bytes.end(), bytes);
}

void describe_device(const Id& id, rdma_ucm_query_addr_resp& answer) {
  if (!id.local) return;
  answer.node_guid = node_guid(*id.local->device);
  answer.port_num = limits::kPorts;
  answer.ibdev_index = kNoDeviceIndex;
  if (id.local->device->adapter) answer.pkey = htons(partition_of(id).value);
}

void query_address(const Id& id, rdma_ucm_query_addr_resp& answer) {
  const Endpoints& endpoints = id.endpoints;
  answer.src_size = static_cast<std::uint16_t>(address_bytes(endpoints.source));
  answer.dst_size = static_cast<std::uint16_t>(address_bytes(endpoints.destination));
  write_address(endpoints.source, bytes_of(answer.src_addr));
  write_address(endpoints.destination, bytes_of(answer.dst_addr));
  describe_device(id, answer);
}

SocketAddress as_ib_address(const Id& id, const SocketAddress& address, const wire::Gid& gid) {
  if (address.family == Family::ib) return address;
  const bool has_partition = id.local && id.local->device->adapter;
  return {.family = Family::ib,
          .ip = gid,
          .pkey = has_partition ? partition_of(id).value : std::uint16_t{0},
          .service_id = service_of(id, address).value};
}

void query_gids(const Id& id, rdma_ucm_query_addr_resp& answer) {
  const wire::Gid own = id.local ? id.local->gid : wire::Gid{};
  answer.src_size = answer.dst_size = kIbAddressBytes;
  write_address(as_ib_address(id, id.endpoints.source, own), bytes_of(answer.src_addr));
  write_address(as_ib_address(id, id.endpoints.destination, id.peer), bytes_of(answer.dst_addr));
  describe_device(id, answer);
}

ib_user_path_rec user_record(const cm::Path& path) {
  ib_user_path_rec record{};
  copy_gid(path.peer, record.dgid);
  copy_gid(path.own, record.sgid);
  record.dlid = htons(path.peer_lid.value);
  record.slid = htons(path.own_lid.value);
  record.flow_label = htonl(path.flow_label);
  record.reversible = 1;
  record.mtu = static_cast<std::uint32_t>(path.mtu);
  record.pkey = htons(path.pkey.value);
  record.hop_limit = path.hop_limit;
  record.traffic_class = path.traffic_class;
  record.numb_path = 1;
  record.sl = path.service_level;
  record.mtu_selector = record.rate_selector = record.packet_life_time_selector = wire::mad::kExactly;
  record.rate = path.rate;
  record.packet_life_time = path.packet_lifetime.value;
  return record;
}

ib_path_rec_data path_data(const cm::Path& path) {
  ib_path_rec_data data{};
  data.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
  const auto record = wire::mad::encode_path(to_record(path));
  static_assert(sizeof data.path_rec == sizeof record);
  std::memcpy(data.path_rec, record.data(), record.size());
  return data;
}

std::size_t query_path(const Id& id, std::size_t room, QueryPathAnswer& answer) {
  constexpr std::size_t kHead = offsetof(QueryPathAnswer, paths);
  answer.num_paths = id.path ? 1 : 0;
  if (answer.num_paths == 0 || room < kHead + sizeof answer.paths[0]) return kHead;
  answer.paths[0] = path_data(*id.path);
  return kHead + sizeof answer.paths[0];
}

// The record before the route is known.
ib_user_path_rec addresses_only(const Id& id) {
  ib_user_path_rec record{};
  copy_gid(id.peer, record.dgid);
  copy_gid(id.local->gid, record.sgid);
  record.pkey = htons(partition_of(id).value);
  return record;
}

}  // namespace

int query_route(Session& session, const rdma_ucm_query& command, rdma_ucm_query_route_resp& answer) {
  const Id* id = nullptr;
  if (const int error = find_id_to_read(session, command.id, id)) return error;
  write_address(id->endpoints.source, bytes_of(answer.src_addr));
  write_address(id->endpoints.destination, bytes_of(answer.dst_addr));
  if (!id->local) return 0;
  answer.node_guid = node_guid(*id->local->device);
  answer.port_num = limits::kPorts;
  answer.ibdev_index = kNoDeviceIndex;
  answer.num_paths = id->path ? 1 : 0;
  answer.ib_route[0] = id->path ? user_record(*id->path) : addresses_only(*id);
  return 0;
}

int query(Session& session, const rdma_ucm_query& command, QueryAnswer& answer, std::size_t& length) {
  const Id* id = nullptr;
  if (const int error = find_id_to_read(session, command.id, id)) return error;
  if (command.option > RDMA_USER_CM_QUERY_GID) return ENOSYS;
  if (command.option == RDMA_USER_CM_QUERY_PATH) {
    if (session.room < offsetof(QueryPathAnswer, paths)) return ENOSPC;
    answer.path = {};
    length = query_path(*id, session.room, answer.path);
    return 0;
  }
  if (session.room < offsetof(rdma_ucm_query_addr_resp, ibdev_index)) return ENOSPC;
  answer.address = {};
  if (command.option == RDMA_USER_CM_QUERY_ADDR) {
    query_address(*id, answer.address);
  } else {
    query_gids(*id, answer.address);
  }
  length = std::min(session.room, sizeof answer.address);
  return 0;
}

}  // namespace urnic::control::rdma_cm
