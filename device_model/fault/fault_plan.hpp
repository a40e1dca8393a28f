// A fault plan at work: its rules, how often each has matched, and the QPs that it has stopped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
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
  // away, the rest only count it. A rule that has acted on as many packets as it may does nothing any more.
  void judge(const link::PacketAtLink& packet, transport::Time now, link::Verdict& verdict) override;

  // Rules to put beside those of the plan, for a number of packets each. Made and destroyed on any thread, so
  // that `add`, which is called where the plan judges, neither allocates nor frees.
  class Addition;
  static constexpr std::size_t kMostAdded = 64;
  // Those that were added before and are used up go. False: there is no room for as many more.
  bool add(Addition& addition);

  struct RuleState {
    std::string name;
    std::uint64_t matches = 0;
    std::optional<std::uint64_t> times{};  // of an added rule: the packets that it may act on
  };
  // How often each rule has matched, in the order of the plan.
  std::vector<RuleState> states() const;

 private:
  static constexpr std::size_t kMostStopped = 4096;

  struct ActiveRule {
    ActiveRule(FaultRule read, std::optional<std::uint64_t> most)
        : rule(std::move(read)), matcher(rule), times(most) {}
    bool used_up() const { return times && matches >= *times; }

    const FaultRule rule;
    RuleMatcher matcher;
    const std::optional<std::uint64_t> times;  // packets that it may act on, if it was added
    std::uint64_t matches = 0;
  };
  using Rules = std::vector<std::unique_ptr<ActiveRule>>;

  struct Stopped {
    std::uint32_t device;
    wire::Qpn queue_pair;
    const FaultRule* by;
  };
  bool rests() const;
  const Stopped* stopped(const link::PacketAtLink& packet, const PacketView& view) const;

  Rules rules_;
  std::vector<Stopped> stopped_;
  AnswerPacket answer_;
};

class FaultPlan::Addition {
 public:
  // Throws as FaultPlan's constructor.
  Addition(std::vector<FaultRule> rules, std::uint64_t times);

 private:
  friend FaultPlan;
  Rules rules_;
  Rules gone_;  // from the plan
};

}  // namespace urnic::fault
