// The way of a directed-route SMP through one node (IBTA 14.2.2). Each function changes the SMP as the node
// does and says what the node does with it.
#pragma once

#include <cstdint>

#include "device_model/subnet/node.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::subnet {

enum class Step : std::uint8_t {
  forward,  // out of `Hop::port`
  agent,    // to the node's own subnet management agent: it has arrived
  manager,  // to the program that asked: an answer has arrived
  drop,
};

struct Hop {
  Step step = Step::drop;
  PortNumber port = 0;
  friend bool operator==(const Hop&, const Hop&) = default;
};

// The sender's own node, whose program writes the SMP at `port`: a question, or the answer to one.
Hop send_directed(PortNumber port, wire::mad::Smp& smp);
// A node that the SMP reaches at `arrival`.
Hop take_directed(const Node& node, PortNumber arrival, wire::mad::Smp& smp);
// The node whose agent has answered; the SMP is marked as returning before.
Hop answer_directed(wire::mad::Smp& smp);

}  // namespace urnic::subnet
