// Links of switches in the built-in InfiniBand fabric, by the names that the admin socket's "link" request
// has for them: "leaf1:8" is the cable in port 8, "leaf1" all cables of the switch.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "device_model/subnet/network.hpp"

namespace urnic::control {

// Empty: there is no such switch. Throws std::runtime_error if the switch has no such port, or no cable
// there.
std::vector<subnet::PortPlace> find_switch_ports(const subnet::Network& network, const std::string& name);

// State and other end of each of these links, by name.
nlohmann::json describe_switch_links(const subnet::Network& network,
                                     const std::vector<subnet::PortPlace>& places);

}  // namespace urnic::control
