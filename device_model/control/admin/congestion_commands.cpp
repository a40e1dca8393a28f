#include "device_model/control/admin/congestion_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <stdexcept>
#include <string_view>

#include "device_model/control/admin/queue_pair_changes.hpp"
#include "device_model/control/admin/setting_value.hpp"
#include "device_model/control/fabric/congestion_names.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"
#include "json/json.hpp"

namespace urnic::control {

using nlohmann::json;

namespace {

const CongestionKey& known_key(std::string_view name) {
  if (const CongestionKey* const key = find_congestion_key(name)) return *key;
  std::vector<std::string_view> names;
  for (const CongestionKey& known : congestion_keys()) names.push_back(known.name);
  throw std::runtime_error(
      fmt::format("{}: no such setting of congestion control; known are {}", name, fmt::join(names, ", ")));
}

}  // namespace

CongestionChange read_congestion_change(const json& request) {
  CongestionChange change{
      named_value<transport::CongestionAlgorithm>("congestion", kCongestionNames, request.at("congestion")),
      {}};
  const json settings = request.value("settings", json::object());
  if (!settings.is_object())
    throw std::runtime_error("\"settings\" must be an object such as {\"line_rate_gbps\":40}");
  for (const auto& [name, value] : settings.items()) {
    const CongestionKey& key = known_key(name);
    change.values.emplace_back(&key, setting_value(key, value));
  }
  return change;
}

std::size_t set_congestion(Fabric& fabric, const ControlServer& control, ServedDevice& device,
                           const CongestionChange& change, std::optional<std::uint32_t> qpn) {
  DeviceSettings changed = device.settings;
  changed.congestion.algorithm = change.algorithm;
  for (const auto& [key, value] : change.values) key->set(changed.congestion, value);
  if (!qpn) device.settings.congestion = changed.congestion;
  const transport::CongestionSettings in_force = congestion_of(changed);
  return change_queue_pairs(fabric, control, device, qpn, [&](engine::QueuePairContext& queue_pair) {
    queue_pair.set_congestion(in_force);
  });
}

}  // namespace urnic::control
