// attach_multicast, detach_multicast
#include <algorithm>
#include <cerrno>
#include <iterator>

#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {
namespace {

// Multicast exists for datagrams only (IBTA 10.5.1).
QueuePair* find_datagram_qp(Session& session, const abi::MulticastRequest& request) {
  QueuePair* const qp = session.context->qps.find(request.qp);
  return qp != nullptr && qp->service == transport::QpService::ud ? qp : nullptr;
}

auto find_membership(QueuePair& qp, const wire::Gid& group) {
  return std::find_if(qp.groups.begin(), qp.groups.end(),
                      [&](const Membership& membership) { return membership.value() == group; });
}

}  // namespace

int attach_multicast(Session& session, const abi::MulticastRequest& request, abi::Empty&,
                     DescriptorExchange&) {
  QueuePair* const qp = find_datagram_qp(session, request);
  const wire::Gid group = wire::to_gid(request.group);
  if (qp == nullptr || !wire::is_multicast(group)) return EINVAL;
  if (find_membership(*qp, group) != qp->groups.end()) return 0;  // as in the kernel
  qp->groups.reserve(qp->groups.size() + 1);
  Membership membership = session.device.multicast.join(group);
  session.fabric.engine(session.device).execute([&] {
    session.device.device->multicast_groups().attach(group, *qp->shared->hosted);
  });
  qp->groups.push_back(std::move(membership));
  return 0;
}

int detach_multicast(Session& session, const abi::MulticastRequest& request, abi::Empty&,
                     DescriptorExchange&) {
  QueuePair* const qp = find_datagram_qp(session, request);
  const wire::Gid group = wire::to_gid(request.group);
  if (qp == nullptr) return EINVAL;
  const auto membership = find_membership(*qp, group);
  if (membership == qp->groups.end()) return EINVAL;
  session.fabric.engine(session.device).execute([&] {
    session.device.device->multicast_groups().detach(group, *qp->shared->hosted);
  });
  qp->groups.erase(membership);
  return 0;
}

}  // namespace urnic::control
