// A host that comes to the fabric while it is up: an adapter with a cable to a free port of a switch.
#pragma once

#include <optional>
#include <string>

#include "device_model/subnet/network.hpp"

namespace urnic::subnet {

// The lowest port without a cable: of the switch to which the cable of `near` leads, if that has one, else of
// the first switch that has. Empty: all ports of all switches have cables.
std::optional<PortPlace> free_switch_port(const Nodes& nodes, NodeIndex near);

// Adds a host of this name, with one port, whose cable leads to `place` and is not plugged in yet.
NodeIndex add_host(Network& network, const std::string& name, PortPlace place);

}  // namespace urnic::subnet
