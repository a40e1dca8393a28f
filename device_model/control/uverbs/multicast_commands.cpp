// attach_multicast, detach_multicast
#include <algorithm>
#include <cerrno>
#include <iterator>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {
namespace {

wire::Gid to_gid(const std::uint8_t (&bytes)[16]) {
  wire::Gid gid;
  std::copy(std::begin(bytes), std::end(bytes), gid.bytes.begin());
  return gid;
}

// Datagrams to a group are all that multicast is (IBTA 10.5.1).
QueuePair* find_datagram_qp(Session& session, const abi::MulticastRequest& request) {
  QueuePair* const qp = session.context->qps.find(request.qp);
  return qp != nullptr && qp->service == transport::QpService::ud ? qp : nullptr;
}

bool is_member(const QueuePair& qp, const wire::Gid& group) {
  return std::find(qp.groups.begin(), qp.groups.end(), group) != qp.groups.end();
}

}  // namespace

int attach_multicast(Session& session, const abi::MulticastRequest& request, abi::Empty&,
                     DescriptorExchange&) {
  ServedDevice& device = session.device;
  QueuePair* const qp = find_datagram_qp(session, request);
  const wire::Gid group = to_gid(request.group);
  if (qp == nullptr || !wire::is_multicast(group)) return EINVAL;
  if (is_member(*qp, group)) return 0;  // as the kernel has it
  const auto known = device.multicast_groups.find(group);
  if (known == device.multicast_groups.end() && device.multicast_groups.size() >= limits::kMaxMulticastGroups)
    return ENOMEM;
  if (known != device.multicast_groups.end() && known->second >= limits::kMaxAttachmentsOfGroup)
    return ENOMEM;
  if (device.multicast_attachments >= limits::kMaxAttachments) return ENOMEM;

  qp->groups.push_back(group);
  session.fabric.engine(session.device).execute([&] {
    device.device->multicast_groups().attach(group, *qp->device_end->hosted);
  });
  ++device.multicast_groups[group];
  ++device.multicast_attachments;
  return 0;
}

int detach_multicast(Session& session, const abi::MulticastRequest& request, abi::Empty&,
                     DescriptorExchange&) {
  QueuePair* const qp = find_datagram_qp(session, request);
  const wire::Gid group = to_gid(request.group);
  if (qp == nullptr || !is_member(*qp, group)) return EINVAL;
  session.fabric.engine(session.device).execute([&] {
    session.device.device->multicast_groups().detach(group, *qp->device_end->hosted);
  });
  std::erase(qp->groups, group);
  session.device.leave_group(group);
  return 0;
}

}  // namespace urnic::control
