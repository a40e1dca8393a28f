// The links between ports, and what a link's ends make of each other (IBTA 7.2: the link state machine).
#pragma once

#include <vector>

#include "device_model/subnet/node.hpp"

namespace urnic::subnet {

using Nodes = std::vector<Node>;

Port& port_at(Nodes& nodes, PortPlace place);

// Whether the port's link is up: subnet management passes it.
bool is_linked(const Port& port);

// A cable between two ports that have none. Plugged in, it brings both up, in the state Initialize.
void connect(Nodes& nodes, PortPlace one, PortPlace other, bool is_plugged);

// What a manager writes to a port's physical state: disabled takes the link away from both ends; polling has
// it train anew (IBTA 14.2.5.6), so it comes back, if the other end is not disabled.
void disable(Nodes& nodes, PortPlace place);
void poll(Nodes& nodes, PortPlace place);

// Pulls the cable of a port out at both ends, or plugs it in again; nothing, if the port has no cable.
void set_cable(Nodes& nodes, PortPlace place, bool is_plugged);

// Nothing comes through the cable of a port any more, or it does again; the same at its other end.
void set_silence(Nodes& nodes, PortPlace place, bool is_silent);

// The link's ends begin anew: Initialize, if the cable is plugged in and not silent, neither is disabled, and
// they have a width and a speed in common, else Down. A switch notes that a port of its has changed, and
// tells the manager.
void retrain(Nodes& nodes, PortPlace place);

}  // namespace urnic::subnet
