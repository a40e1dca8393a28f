#include "device_model/fault/fault_plan.hpp"

#include <algorithm>

#include "device_model/fault/fault_action.hpp"

namespace urnic::fault {

FaultPlan::FaultPlan(std::vector<FaultRule> rules) {
  rules_.reserve(rules.size());
  for (FaultRule& rule : rules) rules_.push_back(std::make_unique<ActiveRule>(std::move(rule)));
  stopped_.reserve(kMostStopped);
}

const FaultPlan::Stopped* FaultPlan::stopped(const link::PacketAtLink& packet, const PacketView& view) const {
  const auto found = std::find_if(stopped_.begin(), stopped_.end(), [&](const Stopped& entry) {
    return entry.device == packet.device && entry.queue_pair == view.queue_pair;
  });
  return found == stopped_.end() ? nullptr : &*found;
}

void FaultPlan::judge(const link::PacketAtLink& packet, transport::Time, link::Verdict& verdict) {
  const auto view = look_at(packet);
  if (!view) return;
  if (const Stopped* entry = stopped(packet, *view)) {
    verdict.touched = verdict.drop = true;
    verdict.remarks.add("rule \"")
        .add(entry->by->name)
        .add("\": dropped, QP ")
        .add(view->queue_pair.value)
        .add(" is stopped");
    return;
  }
  bool gone = false;
  for (const auto& active : rules_) {
    // Rules count a packet even if an earlier rule has taken it away: "the second transmission" is always the
    // second.
    if (!active->matcher.takes(packet, *view)) continue;
    ++active->matches;
    if (gone) continue;
    act(active->rule, packet, *view, answer_, verdict);
    if (active->rule.action.kind == ActionKind::stop_qp && stopped_.size() < kMostStopped)
      stopped_.push_back({packet.device, view->queue_pair, &active->rule});
    gone = verdict.drop || !verdict.answer.empty();
  }
}

std::vector<FaultPlan::RuleState> FaultPlan::states() const {
  std::vector<RuleState> states;
  for (const auto& active : rules_) states.push_back({active->rule.name, active->matches});
  return states;
}

}  // namespace urnic::fault
