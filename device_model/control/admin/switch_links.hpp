// Links of switches in the built-in InfiniBand fabric, by the names that the admin socket's "link" request
// has for them: "leaf1:8" is the cable in port 8, "leaf1" all cables of the switch. A switch's name is the
// configuration's, or its node ID in a file of ibsim.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/subnet/node.hpp"

namespace urnic::control {

// Empty: there is no such switch. Throws std::runtime_error if the switch has no such port, or no cable
// there, or if the name may mean several things.
std::vector<subnet::PortPlace> find_switch_ports(const Fabric& fabric, const std::string& name);

// State and other end of each of these links, by name.
nlohmann::json describe_switch_links(const Fabric& fabric, const std::vector<subnet::PortPlace>& places);

}  // namespace urnic::control
