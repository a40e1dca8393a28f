// The multicast groups that a device's QPs have joined, counted against the device's limits.
#pragma once

#include <cerrno>
#include <cstdint>
#include <map>
#include <system_error>

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

  // A QP joins the group. Throws std::system_error with ENOMEM at a limit.
  [[nodiscard]] Membership join(const wire::Gid& group) {
    const auto known = groups_.find(group);
    const bool fits = known == groups_.end() ? groups_.size() < limits::kMaxMulticastGroups
                                             : known->second < limits::kMaxAttachmentsOfGroup;
    if (!fits || members_ >= limits::kMaxAttachments)
      throw std::system_error(ENOMEM, std::generic_category(), "multicast limit");
    ++groups_[group];
    ++members_;
    return {this, group};
  }
  void give_back(const wire::Gid& group) {
    const auto found = groups_.find(group);
    if (--found->second == 0) groups_.erase(found);
    --members_;
  }
  std::size_t groups() const { return groups_.size(); }
  std::uint32_t members() const { return members_; }

 private:
  std::map<wire::Gid, std::uint32_t> groups_;  // number of QPs in each
  std::uint32_t members_ = 0;
};

}  // namespace urnic::control
