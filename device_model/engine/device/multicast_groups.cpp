#include "device_model/engine/device/multicast_groups.hpp"

#include <algorithm>

namespace urnic::engine {

void MulticastGroups::attach(const wire::Gid& group, QueuePairContext& queue_pair) {
  auto& members = groups_[group];
  if (std::find(members.begin(), members.end(), &queue_pair) == members.end()) members.push_back(&queue_pair);
}

void MulticastGroups::detach(const wire::Gid& group, QueuePairContext& queue_pair) {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return;
  std::erase(found->second, &queue_pair);
  if (found->second.empty()) groups_.erase(found);
}

void MulticastGroups::remove(QueuePairContext& queue_pair) {
  for (auto& [group, members] : groups_) std::erase(members, &queue_pair);
  std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
}

std::span<QueuePairContext* const> MulticastGroups::members(const wire::Gid& group) const {
  const auto found = groups_.find(group);
  if (found == groups_.end()) return {};
  return found->second;
}

}  // namespace urnic::engine
