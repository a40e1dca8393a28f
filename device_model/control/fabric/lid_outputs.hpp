// The rates, virtual lanes and limits of a node's ports, as a manager has left them, for an engine in which
// packets take time inside the fabric.
#pragma once

#include <vector>

#include "device_model/link/lid_output.hpp"
#include "device_model/subnet/links.hpp"

namespace urnic::control {

// By port number.
std::vector<link::LidOutput> lid_outputs(const subnet::Nodes& nodes, subnet::NodeIndex node);

}  // namespace urnic::control
