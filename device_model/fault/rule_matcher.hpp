// Whether a rule takes a packet, with the counters for that.
#pragma once

#include <cstdint>

#include "device_model/fault/fault_rule.hpp"
#include "device_model/fault/match_count.hpp"
#include "device_model/fault/packet_filter.hpp"
#include "device_model/fault/packet_view.hpp"

namespace urnic::fault {

class RuleMatcher {
 public:
  // Compiles the filter; throws std::runtime_error if that fails. `rule` outlives it.
  explicit RuleMatcher(const FaultRule& rule);

  // To be called once for each packet: each call counts.
  bool takes(const link::PacketAtLink& packet, const PacketView& view);

 private:
  bool conditions_hold(const link::PacketAtLink& packet, const PacketView& view) const;
  bool mad_matches(const link::PacketAtLink& packet, const PacketView& view) const;
  bool psn_matches(const link::PacketAtLink& packet, const PacketView& view) const;

  const Match& match_;
  const ActionKind action_;  // an answer takes only packets that can have one
  PacketFilter filter_;
  MatchCount transmissions_;
  MatchCount queue_pairs_;
};

}  // namespace urnic::fault
