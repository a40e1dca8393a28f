#include "device_model/control/admin/active_faults.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/fault/plan_file.hpp"

namespace urnic::control {

void ActiveFaults::load(const std::string& text, const std::string& name) {
  std::vector<std::string> devices;
  for (const auto& device : fabric_.devices()) devices.push_back(device->settings.name);
  const std::vector<fault::FaultRule> rules = fault::parse_plan(text, name, devices);
  Plans plans;
  for (std::uint32_t i = 0; i < fabric_.engines(); ++i) {
    plans.push_back(std::make_unique<fault::FaultPlan>(rules));
  }
  put_in_force(plans);
  plans_ = std::move(plans);
  name_ = name;
  ++number_;
}

void ActiveFaults::load(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream text;
  text << stream.rdbuf();
  if (!stream) throw settings::SettingError(fmt::format("{}: the fault plan cannot be read", file.string()));
  load(text.str(), file.string());
}

void ActiveFaults::clear() {
  if (plans_.empty()) return;
  put_in_force({});
  plans_.clear();
}

void ActiveFaults::put_in_force(const Plans& plans) {
  fabric_.execute_on_all([&](EngineUnit& unit) {
    fault::FaultPlan* const plan = plans.empty() ? nullptr : plans[unit.number].get();
    for (const ServedDevice* device : unit.devices) unit.frame_switch.link(device->index).set_faults(plan);
  });
}

std::optional<ActiveFaults::State> ActiveFaults::state() const {
  if (plans_.empty()) return {};
  State state{number_, name_, {}};
  fabric_.execute_on_all([&](EngineUnit& unit) {
    const std::vector<fault::FaultPlan::RuleState> seen = plans_[unit.number]->states();
    if (state.rules.empty()) {
      state.rules = seen;
      return;
    }
    for (std::size_t rule = 0; rule < seen.size(); ++rule) state.rules[rule].matches += seen[rule].matches;
  });
  return state;
}

}  // namespace urnic::control
