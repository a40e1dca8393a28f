// The multicast groups to which the devices on the built-in switch listen, for the routers and switches of a
// LAN.
#pragma once

#include <memory>
#include <vector>

#include "device_model/link/membership/group_membership.hpp"

namespace urnic::control {

struct ServedDevice;

// Groups that queue pairs have joined, and those in which neighbours look for the devices' IPv6 addresses.
std::vector<link::GroupMember> lan_group_members(const std::vector<std::unique_ptr<ServedDevice>>& devices);

}  // namespace urnic::control
