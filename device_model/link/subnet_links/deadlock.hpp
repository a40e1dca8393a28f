// Whether lanes wait for each other in a circle, so that none of them will ever send: the deadlock of a
// fabric whose routes and lanes have a cycle of dependencies (Dally and Seitz, 1987).
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "device_model/link/lid_routes.hpp"

namespace urnic::link {

// A lane of a port has packets and no credits: those of the input buffer `receiver` are all used.
struct WaitingLane {
  LidPlace sender;
  LidPlace receiver;
  std::uint8_t lane = 0;
};

struct WaitsFor {
  WaitingLane lane;
  // Something leaves the receiver's buffer, whatever the other lanes do.
  bool can_end = false;
  // For each packet in it, the lanes in which its copies wait, by number: one of a packet for a group is free
  // when all of them have left. Packets with the same lanes count once.
  std::set<std::vector<std::uint32_t>> packets = {};
};

// A circle among those that can never end: each waits for the next one, and the last one for the first.
// Empty: there is none. It is found if it is there, and is none if one of its packets can go on.
std::vector<WaitingLane> find_deadlock(std::vector<WaitsFor> lanes);

}  // namespace urnic::link
