// The admin socket's request for the network in which programs run: "network".
#include <string>
#include <vector>

#include "device_model/control/admin/admin_server.hpp"
#include "device_model/control/network/own_namespace.hpp"
#include "json/json.hpp"

namespace urnic::control {

using nlohmann::json;

// The namespaces' descriptors come with the answer, in the order of their names.
json AdminServer::network(const json&, AdminConnectionState& state) {
  const NetworkNamespace& network = surroundings_.network;
  json namespaces = json::array();
  state.descriptors.clear();
  if (network.user) {
    namespaces.push_back("user");
    state.descriptors.push_back(network.user.get());
  }
  if (network.network) {
    namespaces.push_back("network");
    state.descriptors.push_back(network.network.get());
  }
  return {{"ok", true}, {"namespaces", namespaces}, {"outside", surroundings_.source.outside}};
}

}  // namespace urnic::control
