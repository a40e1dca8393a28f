// JOIN_IP_MCAST, JOIN_MCAST, LEAVE_MCAST.
#include <cerrno>

#include "device_model/control/rdma_cm/address_vector.hpp"
#include "device_model/control/rdma_cm/commands.hpp"
#include "device_model/control/rdma_cm/multicast_groups.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control::rdma_cm {
namespace {

using subnet::administration::Outcome;

constexpr int kNotSupported = 524;  // ENOTSUPP, which is the kernel's own and reaches programs here

// What the program needs to send to the group and to attach its queue pair to it.
rdma_ucm_event_resp joined_event(const Id& id, const SocketAddress& group) {
  cm::Path path;
  path.own = id.local->gid;
  path.peer = group.ip;
  path.traffic_class = id.type_of_service;
  rdma_ucm_event_resp event{};
  event.event = static_cast<std::uint32_t>(EventType::multicast_join);
  event.param.ud.qp_num = wire::kMulticastQpn.value;
  event.param.ud.qkey = kDatagramQkey.value;
  event.param.ud.ah_attr = address_vector(*id.local, path);
  return event;
}

// As Linux's cma_make_mc_event: the event of a group of an InfiniBand subnet, or why there is none.
rdma_ucm_event_resp joined_event(Outcome outcome, const wire::mad::MulticastMemberRecord& group) {
  rdma_ucm_event_resp event{};
  event.event = static_cast<std::uint32_t>(EventType::multicast_error);
  event.status = static_cast<std::uint32_t>(-to_errno(outcome));
  if (outcome != Outcome::answered) return event;
  event.event = static_cast<std::uint32_t>(EventType::multicast_join);
  event.param.ud.qp_num = wire::kMulticastQpn.value;
  event.param.ud.qkey = group.qkey.value;
  event.param.ud.ah_attr = address_vector(group);
  return event;
}

// The subnet manager is asked; the event comes with its answer.
int join_subnet_group(Session& session, Id& id, std::uint64_t uid, const SocketAddress& group,
                      bool sends_only, rdma_ucm_create_id_resp& answer) {
  if (!session.administration.exists()) return EOPNOTSUPP;
  const auto* const broadcast =
      id.space == PortSpace::ipoib ? session.administration.broadcast.find(*id.local->device) : nullptr;
  if (id.space == PortSpace::ipoib && broadcast == nullptr) return EADDRNOTAVAIL;
  Multicast& multicast = session.identifiers.join(id, uid);
  answer.id = multicast.number;
  // The membership ends with the group here, so the group is there when its manager answers.
  multicast.membership = session.administration.memberships.join(
      *id.local->device->adapter, group_request(id, group, sends_only, broadcast), multicast.charge,
      [&identifiers = session.identifiers, &multicast](Outcome outcome,
                                                       const wire::mad::MulticastMemberRecord& joined) {
        identifiers.post(multicast, joined_event(outcome, joined));
      });
  return 0;
}

int join(Session& session, std::uint32_t number, std::uint64_t uid, const SocketAddress& group,
         bool sends_only, rdma_ucm_create_id_resp& answer) {
  Id* id = nullptr;
  if (const int error = find_id_with_device(session, number, id)) return error;
  if (id->state != IdState::address_bound && id->state != IdState::address_resolved) return EINVAL;
  if (!is_datagram(*id)) return EINVAL;
  if (id->local->device->adapter) return join_subnet_group(session, *id, uid, group, sends_only, answer);
  // Linux makes no multicast GID of an IPv6 address for RoCE v2.
  if (group.family == Family::ip6) return kNotSupported;
  if (!is_multicast(group) || id->endpoints.source.family != group.family) return EINVAL;
  Multicast& multicast = session.identifiers.join(*id, uid);
  session.identifiers.post(multicast, joined_event(*id, group));
  answer.id = multicast.number;
  return 0;
}

}  // namespace

int join_ip_multicast(Session& session, const rdma_ucm_join_ip_mcast& command,
                      rdma_ucm_create_id_resp& answer) {
  const auto bytes = std::as_bytes(std::span(&command.addr, 1));
  if (address_bytes(family_of(bytes)) == 0 || address_bytes(family_of(bytes)) > bytes.size()) return EINVAL;
  return join(session, command.id, command.uid, read_address(bytes), false, answer);
}

int join_multicast(Session& session, const rdma_ucm_join_mcast& command, rdma_ucm_create_id_resp& answer) {
  const auto bytes = std::as_bytes(std::span(&command.addr, 1));
  if (command.addr_size == 0 || command.addr_size != address_bytes(family_of(bytes))) return EINVAL;
  if (command.join_flags > RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER) return EINVAL;
  const bool sends_only = command.join_flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
  return join(session, command.id, command.uid, read_address(bytes), sends_only, answer);
}

int leave_multicast(Session& session, const rdma_ucm_destroy_id& command, rdma_ucm_destroy_id_resp& answer) {
  Multicast* const multicast = session.identifiers.find_multicast(command.id);
  if (multicast == nullptr) return ENOENT;
  if (multicast->id->channel != &session.channel) return EINVAL;
  session.identifiers.settle_for_good(*multicast);
  answer.events_reported = multicast->events_reported;
  session.identifiers.leave(*multicast);
  return 0;
}

}  // namespace urnic::control::rdma_cm
