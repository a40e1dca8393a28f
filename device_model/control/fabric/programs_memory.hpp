// How much memory the device process may give to programs: half of what its control groups, or the machine,
// have for it. The programs themselves are often in the same group.
#pragma once

#include <chrono>
#include <cstdint>

#include "control_groups/control_groups.hpp"

namespace urnic::control {

// Control thread only.
class ProgramsMemory {
 public:
  // It looks again `period` after the last time.
  explicit ProgramsMemory(control_groups::ControlGroups groups = control_groups::ControlGroups(),
                          std::chrono::milliseconds period = std::chrono::seconds(1))
      : groups_(std::move(groups)), period_(period) {}

  // Bytes. Whoever changes a limit, or moves the process into another group, is followed.
  std::uint64_t bytes();

 private:
  control_groups::ControlGroups groups_;
  std::chrono::milliseconds period_;
  std::chrono::steady_clock::time_point look_at_;
  std::uint64_t bytes_ = 0;
};

}  // namespace urnic::control
