#include "device_model/control/admin/active_faults.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/fault/plan_file.hpp"

namespace urnic::control {
namespace {

// Those that can act on a link of this engine: an added rule that cannot would never be used up.
std::vector<fault::FaultRule> rules_of(const EngineUnit& unit, const std::vector<fault::FaultRule>& rules) {
  std::vector<fault::FaultRule> own;
  std::copy_if(rules.begin(), rules.end(), std::back_inserter(own), [&](const fault::FaultRule& rule) {
    return !rule.match.device ||
           std::any_of(unit.devices.begin(), unit.devices.end(),
                       [&](const ServedDevice* device) { return device->index == *rule.match.device; });
  });
  return own;
}

// The rules of the plan are the same in all engines and come first; added ones are told apart by their names.
void count_in(const fault::FaultPlan::RuleState& seen, std::size_t place,
              std::vector<fault::FaultPlan::RuleState>& all) {
  if (!seen.times) {
    if (place == all.size()) all.push_back({seen.name, 0, {}});
    all[place].matches += seen.matches;
    return;
  }
  const auto same = std::find_if(all.begin(), all.end(), [&](const auto& rule) {
    return rule.times && rule.name == seen.name && rule.times == seen.times;
  });
  if (same == all.end()) {
    all.push_back(seen);
  } else {
    same->matches += seen.matches;
  }
}

}  // namespace

std::vector<fault::FaultRule> ActiveFaults::parse(const std::string& text, const std::string& name) const {
  std::vector<std::string> devices;
  for (const auto& device : fabric_.devices()) devices.push_back(device->settings.name);
  return fault::parse_plan(text, name, devices);
}

void ActiveFaults::load(const std::string& text, const std::string& name) {
  replace(parse(text, name), name);
}

void ActiveFaults::add(const std::string& text, const std::string& name, std::uint64_t times) {
  const std::vector<fault::FaultRule> rules = parse(text, name);
  std::vector<fault::FaultPlan::Addition> additions;
  for (const auto& unit : fabric_.units()) additions.emplace_back(rules_of(*unit, rules), times);
  if (plans_.empty()) replace({}, name);
  bool room = true;
  fabric_.execute_on_all([&](EngineUnit& unit) {
    if (room) room = plans_[unit.number]->add(additions[unit.number]);
  });
  if (!room) {
    throw std::runtime_error(
        fmt::format("no more than {} added rules can wait for their packets: clear the plan first",
                    fault::FaultPlan::kMostAdded));
  }
}

void ActiveFaults::replace(const std::vector<fault::FaultRule>& rules, const std::string& name) {
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
    std::size_t place = 0;
    for (const auto& seen : plans_[unit.number]->states()) count_in(seen, place++, state.rules);
  });
  return state;
}

}  // namespace urnic::control
