// Two ports with a fault plan on their links.
#pragma once

#include <array>
#include <string>

#include "device_model/fault/fault_plan.hpp"
#include "device_model/fault/plan_file.hpp"
#include "tests/unit/link/sample_frames.hpp"

namespace urnic::fault::test {

using link::test::Sample;

inline const std::array<std::string, 2> kDevices{"urnic0", "urnic1"};

struct PlannedPorts : link::test::TwoPorts {
  explicit PlannedPorts(const std::string& plan_text) : plan(parse_plan(plan_text, "plan.toml", kDevices)) {
    for (std::uint32_t port = 0; port < 2; ++port) frame_switch.link(port).set_faults(&plan);
  }
  // One rule, of these lines.
  static std::string rule(const std::string& lines) { return "[[fault]]\n" + lines + "\n"; }

  std::string arrived() const { return receivers[1].psns(); }
  std::uint64_t matches(std::size_t index = 0) const { return plan.states()[index].matches; }
  std::string remarks() const { return observer.all.back().remarks; }

  FaultPlan plan;
};

}  // namespace urnic::fault::test
