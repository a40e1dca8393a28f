#include "device_model/control/fabric/multicast_members.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "device_model/control/fabric/limits.hpp"

namespace urnic::control {

MulticastMembers::MulticastMembers() = default;

MulticastMembers::~MulticastMembers() = default;

void MulticastMembers::on_change(std::function<void(const wire::Gid& group, bool joined)> changed) {
  changed_ = std::move(changed);
}

Membership MulticastMembers::join(const wire::Gid& group) {
  const auto known = groups_.find(group);
  const bool fits = known == groups_.end() ? groups_.size() < limits::kMaxMulticastGroups
                                           : known->second < limits::kMaxAttachmentsOfGroup;
  if (!fits || members_ >= limits::kMaxAttachments)
    throw std::system_error(ENOMEM, std::generic_category(), "multicast limit");
  ++groups_[group];
  ++members_;
  if (known == groups_.end()) tell_of_first(group);
  return {this, group};
}

void MulticastMembers::give_back(const wire::Gid& group) {
  const auto found = groups_.find(group);
  --members_;
  if (--found->second != 0) return;
  groups_.erase(found);
  if (changed_) changed_(group, false);
}

std::vector<wire::Gid> MulticastMembers::group_list() const {
  std::vector<wire::Gid> list;
  for (const auto& [group, members] : groups_) list.push_back(group);
  return list;
}

void MulticastMembers::tell_of_first(const wire::Gid& group) {
  if (!changed_) return;
  try {
    changed_(group, true);
  } catch (...) {
    groups_.erase(group);
    --members_;
    throw;
  }
}

}  // namespace urnic::control
