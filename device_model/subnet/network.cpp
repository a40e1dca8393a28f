#include "device_model/subnet/network.hpp"

#include <algorithm>
#include <utility>

namespace urnic::subnet {
namespace {

using namespace wire::mad;

// Tables of routes may have a loop; no way in a subnet is as long.
constexpr unsigned kMostLidHops = 64;

// The port by which a datagram leaves a node for a LID; empty: it has no route. An adapter has one port.
std::optional<PortNumber> route_of(const Node& node, Lid destination) {
  if (!node.is_switch()) return PortNumber{1};
  if (destination.value >= node.linear.size()) return {};
  const std::uint8_t port = node.linear[destination.value];
  if (port == kNoRoute || !node.has_port(port)) return {};
  return port;
}

bool is_for(const Node& node, PortNumber arrival, Lid destination) {
  return has_lid(node.managed(arrival).info, destination);
}

// Subnet management passes each port that is up; everything else only ports that are active (IBTA 7.2.7).
bool lets_through(const Port& port, std::uint32_t qpn) {
  return is_linked(port) && (qpn == 0 || port.info.state == PortState::active);
}

Datagram answer_to(const Datagram& question, const Mad& mad) {
  Datagram answer = question;
  std::swap(answer.source, answer.destination);
  std::swap(answer.source_qpn, answer.destination_qpn);
  answer.mad = mad;
  return answer;
}

}  // namespace

NodeIndex Network::add(Node node) {
  nodes_.push_back(std::move(node));
  seen_.push_back(nodes_.back().revision);
  told_.push_back(told_of(nodes_.back()));
  sent_.push_back({});
  return static_cast<NodeIndex>(nodes_.size() - 1);
}

void Network::connect(PortPlace one, PortPlace other, bool is_plugged) {
  subnet::connect(nodes_, one, other, is_plugged);
  tell_changes();
}

void Network::set_manager(NodeIndex adapter, bool is_manager) {
  Node& node = nodes_[adapter];
  std::uint32_t& mask = node.ports[1].info.capability_mask;
  mask = is_manager ? mask | kIsSubnetManager : mask & ~kIsSubnetManager;
  ++node.revision;
  raise_port_change(node);
  settle();
}

void Network::set_cable(PortPlace place, bool is_plugged) {
  subnet::set_cable(nodes_, place, is_plugged);
  settle();
}

// Counters of PortInfo stop at their largest value (IBTA 14.2.5.6).
void Network::report(NodeIndex adapter, const KeyViolations& violations) {
  Node& node = nodes_[adapter];
  PortInfo& info = node.ports[1].info;
  const auto add = [](std::uint16_t& counter, std::uint64_t more) {
    counter = static_cast<std::uint16_t>(std::min<std::uint64_t>(counter + more, 0xFFFF));
  };
  add(info.pkey_violations, violations.pkeys);
  add(info.qkey_violations, violations.qkeys);
  raise_key_violation(node, violations);
  settle();
}

void Network::report_integrity(PortPlace place) {
  raise_line_fault(nodes_[place.node], place.port, LineFault::integrity);
  settle();
}

void Network::set_silence(PortPlace place, bool is_silent) {
  const auto peer = port_at(nodes_, place).peer;
  if (is_silent) raise_line_fault(nodes_[place.node], place.port, LineFault::silence);
  if (is_silent && peer) raise_line_fault(nodes_[peer->node], peer->port, LineFault::silence);
  subnet::set_silence(nodes_, place, is_silent);
  settle();
}

bool Network::send(NodeIndex node, Datagram datagram) {
  const bool has_left = send_any(node, datagram);
  settle();
  return has_left;
}

bool Network::send_any(NodeIndex node, Datagram datagram) {
  const PortPlace own{node, nodes_[node].managed_port(1)};
  Smp smp;
  const bool is_smp = decode(datagram.mad, smp) == MadError::none;
  if (is_smp && smp.is_directed()) return send_directed(own, datagram, smp);
  datagram.source = port_at(nodes_, own).info.lid;
  // The permissive LID is the port's own, and so is LID 0 before a manager has come.
  const bool is_own =
      datagram.destination == kPermissiveLid || is_for(nodes_[node], own.port, datagram.destination);
  if (is_own) {
    arrive(own, datagram);
  } else {
    route(own, datagram);
  }
  return true;
}

bool Network::send_directed(PortPlace from, const Datagram& datagram, Smp smp) {
  const Hop hop = subnet::send_directed(from.port, smp);
  if (hop.step == Step::drop) return false;
  Packet packet{.maker = from.node, .from = from, .datagram = datagram};
  if (follow(hop, from, smp, packet)) travel(std::move(packet));
  return true;
}

// Each turn is one packet. The pointer of a directed route moves in one direction, there and back, so the way
// ends.
void Network::travel(Packet packet) {
  for (std::size_t hops = 0; hops <= 2 * kPathPlaces; ++hops) {
    packet.number = ++sent_[packet.maker].at(packet.datagram.source_qpn);
    packet.remarks.clear();
    if (links_ != nullptr && !links_->leave(packet)) return;
    if (!pass_inside(packet)) return;
  }
}

bool Network::pass_inside(Packet& packet) {
  const Way way = way_of(packet);
  if (!way.end) {
    if (links_ != nullptr) links_->stick(packet, way.obstacle);
    return false;
  }
  if (links_ != nullptr && !links_->arrive(packet, *way.end)) return false;
  return take(*way.end, packet);
}

void Network::come_out(Packet packet) {
  if (pass_inside(packet)) travel(std::move(packet));
}

void Network::come_in(PortPlace at, Packet packet) {
  const Datagram& datagram = packet.datagram;
  const bool is_here = is_directed(datagram) || is_for(nodes_[at.node], at.port, datagram.destination);
  std::string_view obstacle;
  if (!is_here) obstacle = "subnet: the port at the end has another LID";
  if (!lets_through(port_at(nodes_, at), datagram.destination_qpn))
    obstacle = "subnet: the port at the end takes no such packet";
  if (!obstacle.empty()) {
    if (links_ != nullptr) links_->refuse(packet, at, obstacle);
    return;
  }
  if (take(at, packet)) travel(std::move(packet));
}

bool Network::take(PortPlace at, Packet& packet) {
  if (!is_directed(packet.datagram)) {
    arrive(at, packet.datagram);
    return false;
  }
  Smp smp;
  if (decode(packet.datagram.mad, smp) != MadError::none) return false;
  return follow(take_directed(nodes_[at.node], at.port, smp), at, smp, packet);
}

// What the node at `at` does with a directed SMP.
bool Network::follow(Hop hop, PortPlace at, Smp& smp, Packet& packet) {
  if (hop.step == Step::agent) {
    const Verdict verdict = ask(at, smp);
    if (verdict == Verdict::refused || verdict == Verdict::taken) return false;
    hop = verdict == Verdict::answered ? answer_directed(smp) : Hop{Step::manager};
    packet.maker = at.node;
  }
  packet.datagram.mad = encode(smp);
  if (hop.step == Step::manager) hand_over(at, packet.datagram);
  if (hop.step != Step::forward || !nodes_[at.node].has_port(hop.port)) return false;
  packet.from = {at.node, hop.port};
  return lets_through(nodes_[at.node].ports[hop.port], 0);
}

Network::Way Network::way_of(const Packet& packet) const {
  if (!is_directed(packet.datagram)) return way_from(packet.from, packet.datagram);
  const Port& out = nodes_[packet.from.node].ports[packet.from.port];
  if (!lets_through(out, 0)) return {.obstacle = "subnet: the link is down"};
  return {out.peer};
}

Network::Way Network::way_from(PortPlace at, const Datagram& datagram) const {
  constexpr auto blocked = [](std::string_view why) { return Way{.obstacle = why}; };
  for (unsigned hops = 0; hops < kMostLidHops; ++hops) {
    const Node& node = nodes_[at.node];
    const auto out = route_of(node, datagram.destination);
    if (!out) return blocked("subnet: a switch has no route to the LID");
    if (*out == 0) return {at};
    const Port& port = node.ports[*out];
    if (!lets_through(port, datagram.destination_qpn))
      return blocked("subnet: a port on the way takes no such packet");
    at = *port.peer;
    if (is_for(nodes_[at.node], at.port, datagram.destination)) return {at};
    if (!nodes_[at.node].is_switch()) return blocked("subnet: the port at the end has another LID");
  }
  return blocked("subnet: the routes go round in a circle");
}

void Network::route(PortPlace from, const Datagram& datagram) {
  travel({.maker = from.node, .from = from, .datagram = datagram});
}

void Network::arrive(PortPlace place, const Datagram& datagram) {
  if (datagram.destination_qpn == 0) return arrive_at_agent(place, datagram);
  hand_over(place, datagram);
}

void Network::arrive_at_agent(PortPlace place, const Datagram& datagram) {
  Smp smp;
  if (decode(datagram.mad, smp) != MadError::none || smp.is_directed()) return;
  const Verdict verdict = ask(place, smp);
  if (verdict == Verdict::refused || verdict == Verdict::taken) return;
  if (verdict == Verdict::not_mine) return hand_over(place, datagram);
  const Datagram back = answer_to(datagram, encode(smp));
  // To itself, or from where it came.
  if (is_for(nodes_[place.node], place.port, back.destination) || back.destination == kPermissiveLid)
    return hand_over(place, back);
  route(nodes_[place.node].is_switch() ? PortPlace{place.node, 0} : place, back);
}

// Nobody reads what a switch's own port has of subnet management beside the agent.
void Network::hand_over(PortPlace place, const Datagram& datagram) {
  const bool is_switch = nodes_[place.node].is_switch();
  if (is_switch && datagram.destination_qpn == 0) return;
  // An adapter's further ports are nobody's.
  if (!is_switch && place.port != 1) return;
  if (receiver_) receiver_(place.node, datagram);
}

Verdict Network::ask_agent(PortPlace place, Smp& smp) {
  const Verdict verdict = ask(place, smp);
  send_new_traps();
  return verdict;
}

Verdict Network::ask(PortPlace place, Smp& smp) {
  const bool may_change = smp.header.method == Method::set;
  const Verdict verdict = subnet::answer(nodes_, place, smp, clock_());
  if (may_change) tell_changes();
  return verdict;
}

void Network::settle() {
  tell_changes();
  send_new_traps();
}

// Nobody is told of switches.
Network::Told Network::told_of(const Node& node) {
  if (node.is_switch()) return {};
  return {node.ports[1].info, node.ports[1].pkeys, node.guids, node.reregistrations};
}

void Network::tell_changes() {
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    if (std::exchange(seen_[i], nodes_[i].revision) == nodes_[i].revision) continue;
    const Told now = told_of(nodes_[i]);
    const Told before = std::exchange(told_[i], now);
    if (before != now && watcher_) watcher_(i, before.reregistrations != now.reregistrations);
  }
}

std::optional<NodeIndex> Network::holder_of(Lid lid) const {
  const auto holds = [lid](const Node& node) {
    if (node.is_switch()) return has_lid(node.ports[0].info, lid);
    return std::any_of(node.ports.begin(), node.ports.end(),
                       [lid](const Port& port) { return has_lid(port.info, lid); });
  };
  const auto found = std::find_if(nodes_.begin(), nodes_.end(), holds);
  if (found == nodes_.end()) return {};
  return static_cast<NodeIndex>(found - nodes_.begin());
}

bool Network::has_managing_program() const {
  return std::any_of(nodes_.begin(), nodes_.end(), [](const Node& node) {
    return !node.is_switch() && (node.ports[1].info.capability_mask & kIsSubnetManager) != 0;
  });
}

void Network::send_new_traps() {
  if (!has_managing_program()) {
    for (Node& node : nodes_) node.traps.clear();
    return;
  }
  for (NodeIndex i = 0; i < nodes_.size(); ++i) send_traps(i, false);
}

void Network::repeat_traps() {
  for (NodeIndex i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].trap_rest != 0) --nodes_[i].trap_rest;
    send_traps(i, true);
  }
}

// A port that no manager has told its LID sends none. The first interval of a rest begins now if this is the
// end of another, else somewhere in the middle of one.
void Network::send_traps(NodeIndex node, bool again) {
  const PortInfo& speaker = nodes_[node].managed(1).info;
  if (speaker.manager_lid == Lid{}) return nodes_[node].traps.clear();
  if (!may_speak(nodes_[node])) return;
  // What a receiver does with it may change the list.
  std::vector<Mad> traps;
  for (PendingTrap& trap : nodes_[node].traps) {
    if (!trap.is_new && !again) continue;
    trap.is_new = false;
    traps.push_back(encode_trap(trap));
  }
  if (!traps.empty()) nodes_[node].trap_rest = again ? 1 : 2;
  for (const Mad& trap : traps)
    send_any(node, {.destination = speaker.manager_lid, .service_level = speaker.manager_sl, .mad = trap});
}

std::optional<std::chrono::nanoseconds> Network::trap_interval() const {
  std::optional<std::chrono::nanoseconds> shortest;
  for (const Node& node : nodes_)
    if (!node.traps.empty() || node.trap_rest != 0) {
      const auto interval = subnet::trap_interval(node);
      shortest = std::min(shortest.value_or(interval), interval);
    }
  return shortest;
}

}  // namespace urnic::subnet
