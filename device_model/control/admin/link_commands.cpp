// The admin socket's request for links: "link".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/admin/lan_report.hpp"
#include "device_model/control/admin/recovery_commands.hpp"
#include "device_model/control/admin/setting_value.hpp"
#include "device_model/control/admin/switch_links.hpp"
#include "device_model/control/admin/wire_description.hpp"
#include "device_model/control/fabric/engine_unit.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/fabric/link_keys.hpp"
#include "device_model/control/sysfs/counter_values.hpp"
#include "device_model/control/sysfs/port_files.hpp"
#include "device_model/control/sysfs/sysfs_tree.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/frames/host_interface.hpp"
#include "device_model/link/switch.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using link::Direction;
using link::LinkSettings;
using nlohmann::json;

json value_of(const LinkKey& key, const LinkSettings& settings) {
  const double value = key.get(settings);
  if (key.flag) return value != 0;
  if (key.whole) return static_cast<std::uint64_t>(value);
  return value;
}

json describe_settings(const LinkSettings& settings) {
  json values = json::object();
  for (const LinkKey& key : link_keys()) values[std::string(key.name)] = value_of(key, settings);
  return values;
}

json describe_counters(const link::Link* link, Direction direction) {
  json values = json::object();
  const link::LinkCounters counters =
      link != nullptr ? link->channel(direction).counters() : link::LinkCounters{};
  for (const LinkCounterValue& counter : link_counter_values(counters)) {
    values[std::string(counter.name)] = counter.value;
  }
  return values;
}

json describe_link(const Fabric& fabric, const ServedDevice& device, transport::Time now) {
  const link::Link* link = fabric.switch_of(device).existing_link(device.index);
  return {{"state", fabric.link_is_up(device, now) ? "up" : "down"},
          {"wire", describe_wire(device)},
          {"tx",
           {{"settings", describe_settings(device.settings.transmit_link)},
            {"counters", describe_counters(link, Direction::transmit)}}},
          {"rx",
           {{"settings", describe_settings(device.settings.receive_link)},
            {"counters", describe_counters(link, Direction::receive)}}}};
}

// The changes of a "set" request; all are checked before any is applied.
struct LinkChange {
  std::vector<std::pair<const LinkKey*, double>> values;
  std::optional<bool> up;
  std::optional<transport::RecoveryMode> recovery;
  bool transmit = true;
  bool receive = true;
};

void read_direction(const json& request, LinkChange& change) {
  const auto found = request.find("direction");
  if (found == request.end() || found->is_null()) return;
  if (*found != "tx" && *found != "rx" && *found != "both")
    throw std::runtime_error(
        fmt::format("direction = {}: allowed is \"tx\", \"rx\" or \"both\"", json_text(*found)));
  change.transmit = *found != "rx";
  change.receive = *found != "tx";
}

LinkChange read_change(const json& request) {
  const json& set = request.at("set");
  if (!set.is_object()) throw std::runtime_error("\"set\" must be an object such as {\"loss\":0.01}");
  LinkChange change;
  read_direction(request, change);
  for (const auto& [name, value] : set.items()) {
    if (name == "state") {
      if (value != "up" && value != "down")
        throw std::runtime_error(fmt::format("state = {}: allowed is \"up\" or \"down\"", json_text(value)));
      change.up = value == "up";
      continue;
    }
    if (name == "recovery") {
      change.recovery = read_recovery(value);
      continue;
    }
    const LinkKey* key = find_link_key(name);
    if (key == nullptr) {
      std::vector<std::string_view> names{"state", "recovery"};
      for (const LinkKey& known : link_keys()) names.push_back(known.name);
      throw std::runtime_error(
          fmt::format("{}: no such link setting; known are {}", name, fmt::join(names, ", ")));
    }
    change.values.emplace_back(key, setting_value(*key, value));
  }
  return change;
}

// Faults and delays are those of the links at devices.
LinkChange read_cable_change(const json& request) {
  LinkChange change = read_change(request);
  if (!change.up || !change.values.empty() || change.recovery)
    throw std::runtime_error("of a switch's link only state can be set: \"up\" or \"down\"");
  return change;
}

// Empty: the request names no switch.
std::vector<subnet::PortPlace> switch_ports(const Fabric& fabric, const json& request) {
  const auto name = request.find("device");
  if (name == request.end() || !name->is_string()) return {};
  for (const auto& device : fabric.devices())
    if (*name == device->settings.name) return {};
  return find_switch_ports(fabric, name->get<std::string>());
}

LinkSettings changed(LinkSettings settings, const LinkChange& change) {
  for (const auto& [key, value] : change.values) key->set(settings, value);
  return settings;
}

void check(const LinkChange& change, const ServedDevice& device) {
  for (const bool transmit : {true, false}) {
    if (!(transmit ? change.transmit : change.receive)) continue;
    const LinkSettings settings =
        changed(transmit ? device.settings.transmit_link : device.settings.receive_link, change);
    const auto wrong = contradiction(settings);
    if (!wrong) continue;
    throw std::runtime_error(fmt::format("{} {}: {} = {}: allowed is {}", device.settings.name,
                                         transmit ? "tx" : "rx", wrong->key,
                                         find_link_key(wrong->key)->get(settings), wrong->allowed));
  }
}

// An InfiniBand port's cable is the subnet's; what may be restored here is a fault's cut.
void apply(Fabric& fabric, const LinkChange& change, ServedDevice& device) {
  if (change.transmit) device.settings.transmit_link = changed(device.settings.transmit_link, change);
  if (change.receive) device.settings.receive_link = changed(device.settings.receive_link, change);
  fabric.engine(device).execute([&] {
    fabric.configure_link(device);
    if (!change.up) return;
    link::Link& link = fabric.switch_of(device).link(device.index);
    if (*change.up) {
      link.restore();
    } else if (!device.adapter) {
      link.cut(transport::Time::max());
    }
  });
  if (change.up && device.host_interface != nullptr) device.host_interface->set_carrier(*change.up);
}

}  // namespace

json AdminServer::link(const json& request, AdminConnectionState&) {
  Fabric& fabric = surroundings_.fabric;
  if (const auto places = switch_ports(fabric, request); !places.empty()) {
    if (request.contains("set")) surroundings_.set_cables(places, *read_cable_change(request).up);
    return {{"links", describe_switch_links(fabric, places)}};
  }
  ServedDevice* const only = find_device(fabric, request);
  if (request.contains("set")) {
    if (!request.contains("device"))
      throw std::runtime_error("\"device\" must name the device whose link is meant, or be \"all\"");
    const LinkChange change = read_change(request);
    const auto concerns = [only](const auto& device) { return only == nullptr || device.get() == only; };
    for (const auto& device : fabric.devices())
      if (concerns(device)) check(change, *device);
    for (const auto& device : fabric.devices()) {
      if (!concerns(device)) continue;
      apply(fabric, change, *device);
      if (change.up && device->adapter) surroundings_.set_cables({{*device->adapter, 1}}, *change.up);
      if (change.up && !device->adapter)
        show_port_state(surroundings_.sysfs.port_folder(*device), fabric.link_is_up(*device));
      if (change.recovery) set_recovery(fabric, surroundings_.control, *device, *change.recovery, {});
    }
  }
  json links = json::object();
  fabric.execute_on_all([&](EngineUnit& unit) {
    for (const ServedDevice* device : unit.devices) {
      if (only != nullptr && only != device) continue;
      links[device->settings.name] = describe_link(fabric, *device, unit.engine.now());
    }
  });
  json answer{{"links", links}, {"defaults", describe_settings(LinkSettings{})}};
  if (fabric.lan() != nullptr) answer["lan"] = describe_lan(fabric);
  return answer;
}

}  // namespace urnic::control
