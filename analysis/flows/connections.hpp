// Pairs of flows as people look at them: the two ends of a connection, and the packets between them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/flows/flow_tracker.hpp"

namespace urnic::analysis {

// Two flows, or one whose opposite is not known. The left end has sent the first packet.
struct Connection {
  FlowIndex from_left = kNoFlow;
  FlowIndex from_right = kNoFlow;  // kNoFlow: nothing, or it is not known which
  std::uint64_t packets = 0;
};

// All connections, by their first packets.
std::vector<Connection> connections_of(const FlowTracker& tracker);

// Whether one of its ends has this QP number.
bool has_qp(const FlowTracker& tracker, const Connection& connection, wire::Qpn qp);

// "192.0.2.1 QP 0x12", "LID 3 QP 0x12", without the QP if it is not known.
std::string left_end(const FlowTracker& tracker, const Connection& connection);
std::string right_end(const FlowTracker& tracker, const Connection& connection);

}  // namespace urnic::analysis
