#include "device_model/control/rdma_cm/broadcast_groups.hpp"

#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/rdma_cm/multicast_groups.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control::rdma_cm {

using subnet::administration::Outcome;

void BroadcastGroups::join(const ServedDevice& device) {
  if (!device.adapter) return;
  groups_.try_emplace(*device.adapter);
  ask(*device.adapter);
}

void BroadcastGroups::join_all() {
  for (const auto& device : fabric_.devices())
    if (device->settings.connection_manager) join(*device);
}

void BroadcastGroups::ask(subnet::NodeIndex adapter) {
  const auto found = groups_.find(adapter);
  if (found == groups_.end() || found->second.progress != Progress::idle || !exists_()) return;
  Group& group = found->second;
  group.progress = Progress::asked;
  group.membership = {};
  // Answered perhaps before this returns, and once more if the group is lost.
  group.membership =
      memberships_.join(adapter, broadcast_request(first_gid_of(fabric_.subnet().node(adapter))), {},
                        [&group](Outcome outcome, const wire::mad::MulticastMemberRecord&) {
                          const bool is_in = outcome == Outcome::answered;
                          group.progress = is_in ? Progress::joined : Progress::idle;
                        });
}

const BroadcastGroups::Group* BroadcastGroups::group_of(const ServedDevice& device) const {
  const auto found = device.adapter ? groups_.find(*device.adapter) : groups_.end();
  return found != groups_.end() ? &found->second : nullptr;
}

bool BroadcastGroups::is_asked(const ServedDevice& device) const {
  const Group* const group = group_of(device);
  return group != nullptr && group->progress == Progress::asked;
}

const wire::mad::MulticastMemberRecord* BroadcastGroups::find(const ServedDevice& device) const {
  const Group* const group = group_of(device);
  return group != nullptr && group->progress == Progress::joined ? group->membership.group() : nullptr;
}

std::optional<wire::mad::Qkey> default_qkey(const BroadcastGroups& groups, const Id& id) {
  if (id.space != PortSpace::ipoib) return kDatagramQkey;
  const auto* const group = groups.find(*id.local->device);
  return group != nullptr ? std::optional(group->qkey) : std::nullopt;
}

}  // namespace urnic::control::rdma_cm
