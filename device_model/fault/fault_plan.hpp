// A fault plan at work: its rules, how often each has matched, and the QPs that it has stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device_model/fault/answer_packet.hpp"
#include "device_model/fault/fault_rule.hpp"
#include "device_model/fault/rule_matcher.hpp"
#include "device_model/link/fault_hook.hpp"

namespace urnic::fault {

class FaultPlan final : public link::FaultHook {
 public:
  // Compiles the filters. Throws std::runtime_error if one is wrong; plan_file.hpp checks them first.
  explicit FaultPlan(std::vector<FaultRule> rules);

  // All rules that match the packet act on it, in the order of the plan. Once a rule has taken the packet
  // away, the rest only count it.
  void judge(const link::PacketAtLink& packet, transport::Time now, link::Verdict& verdict) override;

  struct RuleState {
    std::string name;
    std::uint64_t matches = 0;
  };
  // How often each rule has matched, in the order of the plan.
  std::vector<RuleState> states() const;

 private:
  static constexpr std::size_t kMostStopped = 4096;

  struct ActiveRule {
    explicit ActiveRule(FaultRule read) : rule(std::move(read)), matcher(rule) {}
    const FaultRule rule;
    RuleMatcher matcher;
    std::uint64_t matches = 0;
  };
  struct Stopped {
    std::uint32_t device;
    wire::Qpn queue_pair;
    const FaultRule* by;
  };
  const Stopped* stopped(const link::PacketAtLink& packet, const PacketView& view) const;

  std::vector<std::unique_ptr<ActiveRule>> rules_;
  std::vector<Stopped> stopped_;
  AnswerPacket answer_;
};

}  // namespace urnic::fault
