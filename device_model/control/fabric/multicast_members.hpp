// The multicast groups that a device's QPs have joined, counted against the device's limits.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "device_model/control/fabric/loan.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class MulticastMembers;
using Membership = Loan<MulticastMembers, wire::Gid>;

// Control thread only.
class MulticastMembers {
 public:
  MulticastMembers();
  ~MulticastMembers();
  MulticastMembers(const MulticastMembers&) = delete;
  MulticastMembers& operator=(const MulticastMembers&) = delete;

  // `changed` is called when the first QP has joined a group, and when the last one has left it.
  // Nobody has joined a group if it throws then.
  void on_change(std::function<void(const wire::Gid& group, bool joined)> changed);

  // A QP joins the group. Throws std::system_error with ENOMEM at a limit.
  [[nodiscard]] Membership join(const wire::Gid& group);
  void give_back(const wire::Gid& group);
  // The groups that have members.
  std::vector<wire::Gid> group_list() const;
  std::size_t groups() const { return groups_.size(); }
  std::uint32_t members() const { return members_; }

 private:
  void tell_of_first(const wire::Gid& group);

  std::map<wire::Gid, std::uint32_t> groups_;  // number of QPs in each
  std::uint32_t members_ = 0;
  std::function<void(const wire::Gid&, bool)> changed_;
};

}  // namespace urnic::control
