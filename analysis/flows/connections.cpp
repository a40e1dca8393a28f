#include "analysis/flows/connections.hpp"

#include <fmt/format.h>

#include "analysis/dissection/port_address.hpp"

namespace urnic::analysis {
namespace {

std::string end_text(const PortAddress& address, wire::Qpn qp, bool is_known) {
  const std::string text = address_text(address);
  return is_known ? fmt::format("{} QP {:#x}", text, qp.value) : text;
}

}  // namespace

std::vector<Connection> connections_of(const FlowTracker& tracker) {
  std::vector<Connection> connections;
  const std::vector<Flow>& flows = tracker.flows();
  for (FlowIndex index = 0; index < flows.size(); ++index) {
    const Flow& flow = flows[index];
    if (flow.opposite == kNoFlow) {
      connections.push_back({index, kNoFlow, flow.counters.packets});
    } else if (index < flow.opposite) {  // flows are numbered by their first packets
      connections.push_back(
          {index, flow.opposite, flow.counters.packets + flows[flow.opposite].counters.packets});
    }
  }
  return connections;
}

bool has_qp(const FlowTracker& tracker, const Connection& connection, wire::Qpn qp) {
  const Flow& flow = tracker.flows()[connection.from_left];
  return flow.destination_qp == qp || (flow.pairing != Pairing::unknown && flow.source_qp == qp);
}

std::string left_end(const FlowTracker& tracker, const Connection& connection) {
  const Flow& flow = tracker.flows()[connection.from_left];
  return end_text(flow.source, flow.source_qp, flow.pairing != Pairing::unknown);
}

std::string right_end(const FlowTracker& tracker, const Connection& connection) {
  const Flow& flow = tracker.flows()[connection.from_left];
  return end_text(flow.destination, flow.destination_qp, true);
}

}  // namespace urnic::analysis
