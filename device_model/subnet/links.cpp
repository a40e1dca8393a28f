#include "device_model/subnet/links.hpp"

#include "device_model/subnet/link_ability.hpp"
#include "device_model/subnet/notices.hpp"

namespace urnic::subnet {
namespace {

using wire::mad::PhysicalState;
using wire::mad::PortState;

bool is_disabled(const Port& port) { return port.info.physical_state == PhysicalState::disabled; }

void show(Nodes& nodes, PortPlace place, bool up) {
  Node& node = nodes[place.node];
  Port& port = node.ports[place.port];
  const PortState before = port.info.state;
  const bool was_up = before >= PortState::initialize;
  ++node.revision;
  port.info.state = up ? PortState::initialize : PortState::down;
  if (!is_disabled(port)) port.info.physical_state = up ? PhysicalState::link_up : PhysicalState::polling;
  if (was_up && !up) ++port.times_down;
  if (!node.is_switch() || port.info.state == before) return;
  node.switch_info.port_state_change = true;
  if (up != was_up) raise_link_state(node);
}

}  // namespace

Port& port_at(Nodes& nodes, PortPlace place) { return nodes[place.node].ports[place.port]; }

bool is_linked(const Port& port) { return port.peer && port.info.state >= PortState::initialize; }

void connect(Nodes& nodes, PortPlace one, PortPlace other, bool is_plugged) {
  port_at(nodes, one).peer = other;
  port_at(nodes, other).peer = one;
  port_at(nodes, one).is_pulled = port_at(nodes, other).is_pulled = !is_plugged;
  retrain(nodes, one);
}

void disable(Nodes& nodes, PortPlace place) {
  port_at(nodes, place).info.physical_state = PhysicalState::disabled;
  retrain(nodes, place);
}

void poll(Nodes& nodes, PortPlace place) {
  port_at(nodes, place).info.physical_state = PhysicalState::polling;
  retrain(nodes, place);
}

void set_cable(Nodes& nodes, PortPlace place, bool is_plugged) {
  Port& port = port_at(nodes, place);
  if (!port.peer || port.is_pulled == !is_plugged) return;
  port.is_pulled = port_at(nodes, *port.peer).is_pulled = !is_plugged;
  retrain(nodes, place);
}

void set_silence(Nodes& nodes, PortPlace place, bool is_silent) {
  Port& port = port_at(nodes, place);
  if (!port.peer || port.is_silent == is_silent) return;
  port.is_silent = port_at(nodes, *port.peer).is_silent = is_silent;
  retrain(nodes, place);
}

void retrain(Nodes& nodes, PortPlace place) {
  Port& port = port_at(nodes, place);
  const auto peer = port.peer;
  const bool up = peer && !port.is_pulled && !port.is_silent && !is_disabled(port) &&
                  !is_disabled(port_at(nodes, *peer)) && train(port.info, port_at(nodes, *peer).info);
  show(nodes, place, up);
  if (peer) show(nodes, *peer, up);
}

}  // namespace urnic::subnet
