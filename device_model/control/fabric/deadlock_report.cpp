#include "device_model/control/fabric/deadlock_report.hpp"

#include <fmt/format.h>

#include <vector>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/subnet/network.hpp"

namespace urnic::control {
namespace {

std::string port_text(const Fabric& fabric, link::LidPlace place) {
  const subnet::Node& node = fabric.subnet().node(place.node);
  return fmt::format("{} {} port {}", node.is_switch() ? "switch" : "host", node.name, place.port);
}

using Circle = std::vector<link::WaitingLane>;

std::string text_of(Fabric& fabric, const Circle& (link::TimedSubnet::*which)() const) {
  EngineUnit& home = fabric.infiniband_unit();
  if (home.timed_subnet == nullptr) return {};
  Circle circle;
  home.engine.execute([&] { circle = (home.timed_subnet.get()->*which)(); });
  std::string text;
  for (const link::WaitingLane& each : circle)
    text += fmt::format("{}{} VL {} waits for {}", text.empty() ? "" : "; ", port_text(fabric, each.sender),
                        each.lane, port_text(fabric, each.receiver));
  return text;
}

}  // namespace

std::string deadlock_text(Fabric& fabric) { return text_of(fabric, &link::TimedSubnet::deadlock); }

std::string last_deadlock_text(Fabric& fabric) { return text_of(fabric, &link::TimedSubnet::last_deadlock); }

}  // namespace urnic::control
