// The admin socket's request for a port of the switch: "station".
#include <fmt/format.h>

#include <stdexcept>
#include <string>

#include "device_model/control/admin/admin_lookup.hpp"
#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "json/json.hpp"

namespace urnic::control {
namespace {

using nlohmann::json;

// A member of the request, as text; empty if it is missing.
std::string text_of(const json& request, const char* member) {
  const auto found = request.find(member);
  return found != request.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

StationAddress address_of(const json& request) {
  const auto mac = parse_mac(text_of(request, "mac"));
  if (!mac || (mac->bytes[0] & 1) != 0)
    throw std::runtime_error("\"mac\" must be the address of one station, such as \"02:00:00:00:00:99\"");
  const auto gid = parse_gid(text_of(request, "gid"));
  if (!gid || !wire::is_unicast(*gid))
    throw std::runtime_error("\"gid\" must be the address of one station, such as \"::ffff:192.0.2.153\"");
  return {*mac, *gid};
}

}  // namespace

// How far its subnet manager is with it, "subnet" tells.
json AdminServer::station_in_subnet(const ServedDevice& device, const json& request,
                                    AdminConnectionState& state) {
  const std::string name = text_of(request, "host");
  if (name.empty())
    throw std::runtime_error(
        "\"host\" must be the name of a host of the InfiniBand fabric, such as \"script\"");
  Stations& stations = surroundings_.fabric.stations();
  const Stations::Host host = stations.find_or_add_host(device, name);
  if (host.is_new) surroundings_.set_cables({{host.node, 1}}, true);
  state.station = stations.open_at(host.node);
  state.descriptors = {state.station->descriptor()};
  return {{"ok", true}, {"device", device.settings.name}, {"host", name}};
}

// Beside the named device, or the first one.
json AdminServer::station(const json& request, AdminConnectionState& state) {
  if (state.station != nullptr) throw std::runtime_error("this connection has a station already");
  Fabric& fabric = surroundings_.fabric;
  const ServedDevice* const named = find_device(fabric, request);
  const ServedDevice& device = named != nullptr ? *named : *fabric.devices().front();
  if (device.adapter) return station_in_subnet(device, request, state);
  state.station = fabric.stations().open(device, address_of(request));
  state.descriptors = {state.station->descriptor()};
  json gids = json::array();
  for (const wire::Gid& gid : device.settings.gids) gids.push_back(to_text(gid));
  return {
      {"ok", true}, {"device", device.settings.name}, {"mac", to_text(device.settings.mac)}, {"gids", gids}};
}

}  // namespace urnic::control
