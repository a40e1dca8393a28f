#include "device_model/control/rdma_cm/broadcast_groups.hpp"

#include "device_model/control/fabric/port_record.hpp"
#include "device_model/control/rdma_cm/multicast_groups.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control::rdma_cm {

using subnet::administration::Outcome;

void BroadcastGroups::join(const LocalAddress& local) {
  if (!local.device->adapter || !exists_()) return;
  Group& group = groups_[*local.device->adapter];
  if (group.progress != Progress::idle) return;
  group.progress = Progress::asked;
  group.membership = {};
  // Answered perhaps before this returns, and once more if the group is lost.
  group.membership =
      memberships_.join(*local.device->adapter, broadcast_request(local.gid), {},
                        [&group](Outcome outcome, const wire::mad::MulticastMemberRecord& joined) {
                          const bool is_in = outcome == Outcome::answered;
                          group.progress = is_in ? Progress::joined : Progress::idle;
                          group.record = joined;
                        });
}

void BroadcastGroups::join_all(const Fabric& fabric) {
  for (const auto& device : fabric.devices()) {
    if (!device->adapter || !device->settings.connection_manager) continue;
    join({device.get(), first_gid_of(fabric.subnet().node(*device->adapter))});
  }
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
  return group != nullptr && group->progress == Progress::joined ? &group->record : nullptr;
}

std::optional<wire::mad::Qkey> default_qkey(const BroadcastGroups& groups, const Id& id) {
  if (id.space != PortSpace::ipoib) return kDatagramQkey;
  const auto* const group = groups.find(*id.local->device);
  return group != nullptr ? std::optional(group->qkey) : std::nullopt;
}

}  // namespace urnic::control::rdma_cm
