// modify_qp: checks attributes, merges them with earlier ones, and passes them to the engine in its types.
#include <infiniband/verbs.h>

#include <cerrno>
#include <cstring>

#include "device_model/control/fabric/ethernet_mtu.hpp"
#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/fabric/udp_wire.hpp"
#include "device_model/control/log/log.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/path_resolution.hpp"
#include "device_model/control/uverbs/rate_limit.hpp"
#include "device_model/control/uverbs/raw_packet_rights.hpp"
#include "device_model/control/uverbs/static_rate.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "device_model/transport/qp_transitions.hpp"
#include "device_model/transport/unreliable/raw_packet.hpp"

namespace urnic::control {
namespace {

using transport::QpState;

constexpr std::uint32_t kPsnMask = 0xFFFFFF;

// A change that is checked but not yet made.
struct Change {
  QpState state = QpState::reset;
  bool notify_drained = false;
  abi::QpAttributes attributes{};
  std::optional<wire::NetworkHeaders> path;
};

bool is_state(std::uint32_t value) { return value <= static_cast<std::uint32_t>(QpState::error); }

int check_values(const ServedDevice& device, const PortRecord& port, const abi::ModifyQpRequest& request) {
  const abi::QpAttributes& a = request.attributes;
  const transport::QpAttributeValues values{
      .path_mtu = a.path_mtu,
      .timeout = a.timeout,
      .retry_count = a.retry_count,
      .rnr_retry = a.rnr_retry,
      .min_rnr_timer = a.min_rnr_timer,
      .max_qp_rd_atomic = a.max_rd_atomic,
      .max_dest_rd_atomic = a.max_dest_rd_atomic,
      .port = a.port,
      .pkey_index = a.pkey_index,
  };
  const transport::QpAttributeLimits device_limits{
      .active_mtu = port.active_mtu,
      .max_qp_rd_atomic = limits::kMaxRdAtomic,
      .max_dest_rd_atomic = limits::kMaxRdAtomic,
      .ports = limits::kPorts,
      .pkeys = static_cast<std::uint32_t>(port.pkeys.size()),
  };
  const std::uint32_t bad = transport::bad_values(request.mask, values, device_limits);
  if (bad == 0) return 0;
  const auto first = static_cast<transport::QpAttribute>(bad & -bad);
  log::debug("{}: modify_qp: value of {} out of range", device.settings.name, transport::name(first));
  if (first == transport::attr_path_mtu && device.udp != nullptr && a.path_mtu <= IBV_MTU_4096)
    log::warn(
        "{}: a program asked for a path MTU of {} bytes; on interface {}, whose MTU is {}, it is {} at most",
        device.settings.name, limits::mtu_bytes(a.path_mtu), device.udp->interface.name,
        device.udp->interface.mtu, device.settings.mtu);
  return EINVAL;
}

// Path migration is not offered (no IBV_DEVICE_AUTO_PATH_MIG): the QP is always in the migrated state.
int check_path_migration(const abi::ModifyQpRequest& request) {
  if ((request.mask & transport::attr_alternate_path) != 0) return EOPNOTSUPP;
  const bool sets_state = (request.mask & transport::attr_path_migration_state) != 0;
  return sets_state && request.attributes.path_migration_state != IBV_MIG_MIGRATED ? EINVAL : 0;
}

int check_transition(const ServedDevice& device, transport::QpService service, QpState current, QpState next,
                     const abi::ModifyQpRequest& request) {
  const auto believed = static_cast<QpState>(request.attributes.current_state);
  const transport::TransitionCheck check =
      transport::check_transition(service, current, next, request.mask, believed);
  if (check.error == transport::TransitionError::none) return 0;
  const auto first = static_cast<transport::QpAttribute>(check.attributes & -check.attributes);
  log::debug("{}: modify_qp from {} to {} refused: {} is missing or not allowed there", device.settings.name,
             transport::name(current), transport::name(next), transport::name(first));
  return EINVAL;
}

// `current` with the members of `wanted` that `mask` names.
abi::QpAttributes merged(const abi::QpAttributes& current, const abi::QpAttributes& wanted,
                         std::uint32_t mask) {
  abi::QpAttributes result = current;
  const auto has = [mask](transport::QpAttribute attribute) { return (mask & attribute) != 0; };
  if (has(transport::attr_access_flags)) result.access_flags = wanted.access_flags;
  if (has(transport::attr_pkey_index)) result.pkey_index = wanted.pkey_index;
  if (has(transport::attr_port)) result.port = wanted.port;
  if (has(transport::attr_qkey)) result.qkey = wanted.qkey;
  if (has(transport::attr_address_vector)) result.path = wanted.path;
  if (has(transport::attr_path_mtu)) result.path_mtu = wanted.path_mtu;
  if (has(transport::attr_timeout)) result.timeout = wanted.timeout;
  if (has(transport::attr_retry_count)) result.retry_count = wanted.retry_count;
  if (has(transport::attr_rnr_retry)) result.rnr_retry = wanted.rnr_retry;
  if (has(transport::attr_rq_psn)) result.receive_psn = wanted.receive_psn & kPsnMask;
  if (has(transport::attr_max_qp_rd_atomic)) result.max_rd_atomic = wanted.max_rd_atomic;
  if (has(transport::attr_min_rnr_timer)) result.min_rnr_timer = wanted.min_rnr_timer;
  if (has(transport::attr_sq_psn)) result.send_psn = wanted.send_psn & kPsnMask;
  if (has(transport::attr_max_dest_rd_atomic)) result.max_dest_rd_atomic = wanted.max_dest_rd_atomic;
  if (has(transport::attr_destination_qpn)) result.destination_qpn = wanted.destination_qpn & kPsnMask;
  if (has(transport::attr_rate_limit)) result.rate_limit = wanted.rate_limit;
  if (has(transport::attr_sqd_async_notify)) result.enable_sqd_notify = wanted.enable_sqd_notify;
  return result;
}

// The host may make its interface's MTU smaller, and larger again.
std::uint32_t longest_raw_packet(const ServedDevice& device) {
  const std::uint32_t path_mtu = device.interface ? device.largest_mtu : device.settings.mtu;
  return ethernet_mtu(path_mtu) + transport::kRawFrameHeader;
}

// A datagram QP has no path of its own: the port's MTU limits its messages. Before a subnet manager has come,
// an InfiniBand port has none.
std::uint32_t datagram_mtu(const ServedDevice& device, const PortRecord& port) {
  const bool is_set = port.link_layer == LinkLayer::infiniband && port.active_mtu != 0;
  return is_set ? limits::mtu_bytes(port.active_mtu) : device.settings.mtu;
}

transport::QpParameters parameters_for(const ServedDevice& device, const PortRecord& port,
                                       const QueuePair& qp, const abi::QpAttributes& a) {
  transport::QpParameters parameters;
  parameters.pkey_index = static_cast<std::uint16_t>(a.pkey_index);
  parameters.pkey = wire::Pkey{port.pkeys.at(a.pkey_index)};
  parameters.access.remote_read = (a.access_flags & IBV_ACCESS_REMOTE_READ) != 0;
  parameters.access.remote_write = (a.access_flags & IBV_ACCESS_REMOTE_WRITE) != 0;
  parameters.access.remote_atomic = (a.access_flags & IBV_ACCESS_REMOTE_ATOMIC) != 0;
  if (a.path_mtu != 0) parameters.path_mtu = limits::mtu_bytes(a.path_mtu);
  if (qp.service == transport::QpService::ud) parameters.path_mtu = datagram_mtu(device, port);
  if (qp.service == transport::QpService::raw_packet) parameters.path_mtu = longest_raw_packet(device);
  parameters.qkey = a.qkey;
  parameters.destination = wire::Qpn{a.destination_qpn};
  parameters.receive_psn = wire::Psn{a.receive_psn};
  parameters.send_psn = wire::Psn{a.send_psn};
  parameters.max_destination_reads = a.max_dest_rd_atomic;
  parameters.max_reads = a.max_rd_atomic;
  parameters.min_rnr_timer = a.min_rnr_timer;
  parameters.timeout = a.timeout;
  parameters.retry_count = a.retry_count;
  parameters.rnr_retry = a.rnr_retry;
  return parameters;
}

// A queue pair with a controlled Q_Key (IBTA 10.2.5) sends what queue pair 1 takes for management datagrams.
int check_qkey(const Session& session, const abi::ModifyQpRequest& request) {
  constexpr std::uint32_t kControlled = 0x80000000;
  const bool is_controlled =
      (request.mask & transport::attr_qkey) != 0 && (request.attributes.qkey & kControlled) != 0;
  return is_controlled ? check_raw_packets(session, "set a controlled Q_Key") : 0;
}

// The change that `request` makes to the QP in state `current`.
int prepare(Session& session, const PortRecord& port, const QueuePair& qp,
            const abi::ModifyQpRequest& request, QpState current, Change& change) {
  const bool moves = (request.mask & transport::attr_state) != 0;
  change.state = moves ? static_cast<QpState>(request.attributes.state) : current;
  change.notify_drained =
      (request.mask & transport::attr_sqd_async_notify) != 0 && request.attributes.enable_sqd_notify != 0;
  if (const int error = check_transition(session.device, qp.service, current, change.state, request))
    return error;
  if (const int error = check_values(session.device, port, request)) return error;
  if (const int error = check_path_migration(request)) return error;
  if ((request.mask & transport::attr_rate_limit) != 0 && !is_valid_rate(qp, request.attributes.rate_limit))
    return EINVAL;
  if (change.state == QpState::reset) return 0;  // reset clears all attributes
  const SharedQueuePair& before = *qp.shared;
  change.attributes = merged(before.attributes, request.attributes, request.mask);
  change.path = before.path;
  if ((request.mask & transport::attr_address_vector) != 0) {
    wire::NetworkHeaders path;
    const int error = resolve_path(session.fabric, session.device, change.attributes.path,
                                   before.hosted->qpn(), wire::Qpn{change.attributes.destination_qpn}, path);
    if (error != 0) return error;
    change.path = path;
    change.attributes.path.hop_limit = path.hop_limit;  // ibv_query_qp returns the value in use
  }
  return 0;
}

}  // namespace

int modify_qp(Session& session, const abi::ModifyQpRequest& asked, abi::Empty&, DescriptorExchange&) {
  QueuePair* qp = session.context->qps.find(asked.handle);
  if (qp == nullptr) return EINVAL;
  abi::ModifyQpRequest request = asked;
  request.mask = transport::heeded(qp->service, asked.mask);
  const abi::QpAttributes& wanted = request.attributes;
  if ((request.mask & transport::attr_state) != 0 && !is_state(wanted.state)) return EINVAL;
  if ((request.mask & transport::attr_current_state) != 0 && !is_state(wanted.current_state)) return EINVAL;
  if (const int error = check_qkey(session, request)) return error;

  // Checks and changes in one task of the engine: in between, a packet could move the QP to error.
  int error = 0;
  Change change;
  SharedQueuePair& shared = *qp->shared;
  const PortRecord port = port_record_when_up(session.fabric, session.device);
  session.fabric.engine(session.device).execute([&] {
    error = prepare(session, port, *qp, request, shared.hosted->state(), change);
    if (error != 0) return;
    shared.hosted->modify(change.state, parameters_for(session.device, port, *qp, change.attributes),
                          change.path, change.notify_drained);
    const bool new_rate = (request.mask & transport::attr_rate_limit) != 0 || change.state == QpState::reset;
    if (new_rate) shared.hosted->limit_rate(change.attributes.rate_limit, 0);
    const bool new_path =
        (request.mask & transport::attr_address_vector) != 0 || change.state == QpState::reset;
    if (new_path && session.device.adapter)
      shared.hosted->limit_path(static_rate_kbps(port, change.attributes.path));
  });
  if (error != 0) return error;
  shared.attributes = change.attributes;
  shared.path = change.path;
  return 0;
}

// A QP that is in error meanwhile is an ordinary case.
int modify_qp_unanswered(Session& session, const abi::ModifyQpRequest& request, abi::Empty& reply,
                         DescriptorExchange& descriptors) {
  const int error = modify_qp(session, request, reply, descriptors);
  if (error == kNotYet) return error;
  if (error != 0)
    log::debug("{}: a queue pair stays as it is: {}", session.device.settings.name, std::strerror(error));
  return 0;
}

}  // namespace urnic::control
