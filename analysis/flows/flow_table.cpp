#include "analysis/flows/flow_table.hpp"

#include <algorithm>
#include <cstring>

namespace urnic::analysis {
namespace {

// Between two addresses. More flows than this are not looked through for each answer.
constexpr std::size_t kMostCandidates = 4096;
// Pairs that the connection manager has named and no packet has used yet.
constexpr std::size_t kMostKnownPairs = 1 << 16;

constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t word) {
  return (hash ^ word) * 0x9E3779B97F4A7C15 ^ hash >> 29;
}

std::uint64_t mix(std::uint64_t hash, const PortAddress& address) {
  std::uint64_t words[2];
  std::memcpy(words, address.gid.bytes.data(), sizeof words);
  return mix(mix(hash, words[0] ^ address.lid.value), words[1]);
}

FlowKey key_of(const Dissection& packet) {
  const auto& headers = packet.transport();
  const bool datagram = headers.bth.opcode.service() == wire::Service::ud;
  return {source_of(packet.network()),
          {destination_of(packet.network()), headers.bth.destination},
          datagram ? headers.deth.source : wire::Qpn{}};
}

FlowKey between_key(const PortAddress& source, const PortAddress& destination) {
  return {source, {destination, {}}, {}};
}

}  // namespace

std::size_t FlowKeyHash::operator()(const FlowKey& key) const {
  const std::uint64_t addresses = mix(mix(0, key.source), key.destination.address);
  return mix(addresses, std::uint64_t{key.destination.qp.value} << 32 | key.source_qp.value);
}

FlowIndex FlowTable::flow_of(const Dissection& packet) {
  const FlowKey key = key_of(packet);
  const auto found = index_.find(key);
  if (found != index_.end()) return found->second;
  return make(key, packet.transport().bth.opcode.service());
}

FlowIndex FlowTable::find(const Dissection& packet) const {
  const auto found = index_.find(key_of(packet));
  return found == index_.end() ? kNoFlow : found->second;
}

FlowIndex FlowTable::make(const FlowKey& key, wire::Service service) {
  if (flows_.size() == kMostFlows) return kNoFlow;
  const auto flow = static_cast<FlowIndex>(flows_.size());
  flows_.emplace_back();
  flows_.back().source = key.source;
  flows_.back().destination = key.destination.address;
  flows_.back().destination_qp = key.destination.qp;
  flows_.back().service = service;
  states_.emplace_back();
  states_.back().key = key;
  index_[key] = flow;
  between_[between_key(key.source, key.destination.address)].push_back(flow);
  if (service == wire::Service::ud) {
    flows_[flow].source_qp = key.source_qp;
    flows_[flow].pairing = Pairing::by_header;
    const auto opposite =
        index_.find({key.destination.address, {key.source, key.source_qp}, key.destination.qp});
    // Datagrams that ports send to themselves, or that have no LIDs yet, are a flow without an opposite.
    if (opposite != index_.end() && opposite->second != flow)
      pair(flow, opposite->second, Pairing::by_header);
  } else {
    pair_if_known(flow);
  }
  return flow;
}

FlowIndex FlowTable::renew(FlowIndex flow) {
  const FlowKey key = states_[flow].key;
  const FlowIndex opposite = flows_[flow].opposite;
  // Keys of the old connection only.
  if (opposite != kNoFlow) release(states_[opposite].key);
  const wire::Service service = flows_[flow].service;
  const bool was_watched = states_[flow].is_watched;
  release(key);
  const FlowIndex renewed = make(key, service);
  if (renewed != kNoFlow) states_[renewed].is_watched = was_watched;
  return renewed;
}

void FlowTable::release(const FlowKey& key) {
  known_pairs_.erase(key);
  const auto found = index_.find(key);
  if (found == index_.end()) return;
  auto& between = between_[between_key(key.source, key.destination.address)];
  between.erase(std::remove(between.begin(), between.end(), found->second), between.end());
  index_.erase(found);
}

void FlowTable::pair(FlowIndex one, FlowIndex other, Pairing how) {
  for (const auto& [flow, opposite] : {std::pair{one, other}, std::pair{other, one}}) {
    flows_[flow].opposite = opposite;
    flows_[flow].pairing = how;
    flows_[flow].source_qp = states_[opposite].key.destination.qp;
    if (flows_[flow].path_mtu == 0) flows_[flow].path_mtu = flows_[opposite].path_mtu;
    states_[flow].candidates.clear();
  }
}

void FlowTable::pair_if_known(FlowIndex flow) {
  const auto known = known_pairs_.find(states_[flow].key);
  if (known == known_pairs_.end()) return;
  // Known even before the other end has sent anything.
  flows_[flow].source_qp = known->second.opposite.destination.qp;
  flows_[flow].pairing = Pairing::by_cm;
  const auto opposite = index_.find(known->second.opposite);
  if (opposite != index_.end()) pair(flow, opposite->second, Pairing::by_cm);
}

void FlowTable::learn_pair(const QueuePairEnd& one, const QueuePairEnd& other, std::uint64_t identity) {
  const FlowKey to_other{one.address, other, {}};
  const FlowKey to_one{other.address, one, {}};
  const auto known = known_pairs_.find(to_other);
  if (known != known_pairs_.end() && known->second.identity == identity) return;
  release(to_other);
  release(to_one);
  if (known_pairs_.size() >= kMostKnownPairs) return;
  known_pairs_[to_other] = {to_one, identity};
  known_pairs_[to_one] = {to_other, identity};
}

void FlowTable::pair_by_answer(FlowIndex flow, wire::Psn psn, bool to_read) {
  std::vector<FlowIndex> fit = fitting(flow, psn, to_read);
  std::vector<FlowIndex>& candidates = states_[flow].candidates;
  // Those that fit every answer so far.
  if (!candidates.empty()) {
    std::vector<FlowIndex> both;
    for (const FlowIndex candidate : candidates)
      if (std::find(fit.begin(), fit.end(), candidate) != fit.end()) both.push_back(candidate);
    if (!both.empty()) fit = std::move(both);
  }
  if (fit.size() == 1) {
    pair(flow, fit.front(), Pairing::by_traffic);
  } else {
    candidates = std::move(fit);
  }
}

std::vector<FlowIndex> FlowTable::fitting(FlowIndex flow, wire::Psn psn, bool to_read) {
  std::vector<FlowIndex> fit;
  const FlowKey& key = states_[flow].key;
  const auto between = between_.find(between_key(key.destination.address, key.source));
  if (between == between_.end() || between->second.size() > kMostCandidates) return fit;
  for (const FlowIndex candidate : between->second)
    if (fits(candidate, flow, psn, to_read)) fit.push_back(candidate);
  return fit;
}

bool FlowTable::fits(FlowIndex candidate, FlowIndex flow, wire::Psn psn, bool to_read) {
  if (candidate == flow || flows_[candidate].opposite != kNoFlow) return false;
  // A selective acknowledge has a manufacturer's opcode, whatever the service.
  if (!wire::is_acknowledged(flows_[candidate].service)) return false;
  const RequestWindow& requests = states_[candidate].requests;
  const RequestSlot* const slot = requests.slot(psn);
  return slot != nullptr && distance(requests.unacknowledged(), psn) >= 0 && slot->is_read == to_read;
}

}  // namespace urnic::analysis
