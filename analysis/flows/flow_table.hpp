// Which flow a packet belongs to, and which two flows are one connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/dissection/dissection.hpp"
#include "analysis/dissection/port_address.hpp"
#include "analysis/flows/flow.hpp"
#include "analysis/flows/request_window.hpp"
#include "wire/identifiers.hpp"

namespace urnic::analysis {

// One end of a connection.
struct QueuePairEnd {
  PortAddress address;
  wire::Qpn qp;
  friend bool operator==(const QueuePairEnd&, const QueuePairEnd&) = default;
};

// What tells flows apart: who sends to which queue pair. Datagrams name their source, too.
struct FlowKey {
  PortAddress source;
  QueuePairEnd destination;
  wire::Qpn source_qp;  // of datagrams
  friend bool operator==(const FlowKey&, const FlowKey&) = default;
};

struct FlowKeyHash {
  std::size_t operator()(const FlowKey& key) const;
};

// A flow with what is kept to judge its packets.
struct FlowState {
  FlowKey key;
  RequestWindow requests;
  wire::Psn next_response;  // of READs, that this flow's packets answer
  bool has_responses = false;
  bool is_watched = false;  // the capture has a point at the receiver
  std::uint32_t messages = 0;
  std::uint32_t message_bytes = 0;
  bool message_is_whole = false;      // so far
  std::uint64_t marked = 0;           // its newest packet that was marked "congestion experienced"; 0: none
  std::vector<FlowIndex> candidates;  // for the opposite flow, while several fit
};

class FlowTable {
 public:
  // Further flows are not kept apart.
  static constexpr std::size_t kMostFlows = 8192;

  // The packet's flow, made if it is its first packet; kNoFlow if there are too many.
  FlowIndex flow_of(const Dissection& packet);
  // The same, without making one.
  FlowIndex find(const Dissection& packet) const;
  // The flow's QP number serves another connection from now on: returns that one's flow.
  FlowIndex renew(FlowIndex flow);

  // The connection manager has named both ends. `identity` tells a repeated message from a new connection.
  void learn_pair(const QueuePairEnd& one, const QueuePairEnd& other, std::uint64_t identity);
  // An answer with this PSN goes to the flow's QP: pairs the flow with the one whose requests it fits, if
  // there is only one.
  void pair_by_answer(FlowIndex flow, wire::Psn psn, bool to_read);

  std::vector<Flow>& flows() { return flows_; }
  const std::vector<Flow>& flows() const { return flows_; }
  FlowState& state(FlowIndex flow) { return states_[flow]; }

 private:
  using Index = std::unordered_map<FlowKey, FlowIndex, FlowKeyHash>;

  FlowIndex make(const FlowKey& key, wire::Service service);
  void pair(FlowIndex one, FlowIndex other, Pairing how);
  void pair_if_known(FlowIndex flow);
  void release(const FlowKey& key);
  bool fits(FlowIndex candidate, FlowIndex flow, wire::Psn psn, bool to_read);
  std::vector<FlowIndex> fitting(FlowIndex flow, wire::Psn psn, bool to_read);

  std::vector<Flow> flows_;
  std::vector<FlowState> states_;
  Index index_;
  // The connection manager's pairs, in both directions.
  struct KnownPair {
    FlowKey opposite;
    std::uint64_t identity;
  };
  std::unordered_map<FlowKey, KnownPair, FlowKeyHash> known_pairs_;
  // Flows between two addresses: the key has no QPs.
  std::unordered_map<FlowKey, std::vector<FlowIndex>, FlowKeyHash> between_;
};

}  // namespace urnic::analysis
