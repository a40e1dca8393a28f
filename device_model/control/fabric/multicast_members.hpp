// The multicast groups that a device's QPs have joined, counted against the device's limits.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/fabric/loan.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class MulticastMembers;
using Membership = Loan<MulticastMembers, wire::Gid>;

// Control thread only.
class MulticastMembers {
 public:
  MulticastMembers() = default;
  MulticastMembers(const MulticastMembers&) = delete;
  MulticastMembers& operator=(const MulticastMembers&) = delete;

  // `changed` is called when the first QP has joined a group, and when the last one has left it.
  // Nobody has joined a group if it throws then.
  void on_change(std::function<void(const wire::Gid& group, bool joined)> changed) {
    changed_ = std::move(changed);
  }

  // A QP joins the group. Throws std::system_error with ENOMEM at a limit.
  [[nodiscard]] Membership join(const wire::Gid& group) {
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
  void give_back(const wire::Gid& group) {
    const auto found = groups_.find(group);
    --members_;
    if (--found->second != 0) return;
    groups_.erase(found);
    if (changed_) changed_(group, false);
  }
  // The groups that have members.
  std::vector<wire::Gid> group_list() const {
    std::vector<wire::Gid> list;
    for (const auto& [group, members] : groups_) list.push_back(group);
    return list;
  }
  std::size_t groups() const { return groups_.size(); }
  std::uint32_t members() const { return members_; }

 private:
  void tell_of_first(const wire::Gid& group) {
    if (!changed_) return;
    try {
      changed_(group, true);
    } catch (...) {
      groups_.erase(group);
      --members_;
      throw;
    }
  }

  std::map<wire::Gid, std::uint32_t> groups_;  // number of QPs in each
  std::uint32_t members_ = 0;
  std::function<void(const wire::Gid&, bool)> changed_;
};

}  // namespace urnic::control
