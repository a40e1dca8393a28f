#include "device_model/control/active_faults.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "device_model/fault/plan_file.hpp"

namespace urnic::control {

void ActiveFaults::load(const std::string& text, const std::string& name) {
  std::vector<std::string> devices;
  for (const auto& device : fabric_.devices()) devices.push_back(device->settings.name);
  auto plan = std::make_unique<fault::FaultPlan>(fault::parse_plan(text, name, devices));
  put_in_force(plan.get());
  plan_ = std::move(plan);
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
  if (plan_ == nullptr) return;
  put_in_force(nullptr);
  plan_.reset();
}

void ActiveFaults::put_in_force(fault::FaultPlan* plan) {
  fabric_.engine().execute([&] {
    for (const auto& device : fabric_.devices()) fabric_.wires().link(device->index).set_faults(plan);
  });
}

std::optional<ActiveFaults::State> ActiveFaults::state() const {
  if (plan_ == nullptr) return {};
  State state{number_, name_, {}};
  fabric_.engine().execute([&] { state.rules = plan_->states(); });
  return state;
}

}  // namespace urnic::control
