#include "device_model/fault/fault_plan.hpp"

#include <algorithm>
#include <functional>
#include <iterator>

#include "device_model/fault/fault_action.hpp"

namespace urnic::fault {

FaultPlan::FaultPlan(std::vector<FaultRule> rules) {
  rules_.reserve(rules.size() + kMostAdded);
  for (FaultRule& rule : rules) rules_.push_back(std::make_unique<ActiveRule>(std::move(rule), std::nullopt));
  stopped_.reserve(kMostStopped);
}

FaultPlan::Addition::Addition(std::vector<FaultRule> rules, std::uint64_t times) {
  gone_.reserve(kMostAdded);
  for (FaultRule& rule : rules) rules_.push_back(std::make_unique<ActiveRule>(std::move(rule), times));
}

// A rule by which QPs are stopped stays, because their remarks name it.
bool FaultPlan::add(Addition& addition) {
  const auto goes = [](const auto& active) {
    return active->times && active->used_up() && active->rule.action.kind != ActionKind::stop_qp;
  };
  const auto first_gone = std::stable_partition(rules_.begin(), rules_.end(), std::not_fn(goes));
  std::move(first_gone, rules_.end(), std::back_inserter(addition.gone_));
  rules_.erase(first_gone, rules_.end());
  const auto added =
      std::count_if(rules_.begin(), rules_.end(), [](const auto& active) { return active->times; });
  if (static_cast<std::size_t>(added) + addition.rules_.size() > kMostAdded) return false;
  std::move(addition.rules_.begin(), addition.rules_.end(), std::back_inserter(rules_));
  addition.rules_.clear();
  return true;
}

// Nothing is left to do.
bool FaultPlan::rests() const {
  return stopped_.empty() &&
         std::all_of(rules_.begin(), rules_.end(), [](const auto& active) { return active->used_up(); });
}

const FaultPlan::Stopped* FaultPlan::stopped(const link::PacketAtLink& packet, const PacketView& view) const {
  const auto found = std::find_if(stopped_.begin(), stopped_.end(), [&](const Stopped& entry) {
    return entry.device == packet.device && entry.queue_pair == view.queue_pair;
  });
  return found == stopped_.end() ? nullptr : &*found;
}

void FaultPlan::judge(const link::PacketAtLink& packet, transport::Time, link::Verdict& verdict) {
  if (rests()) return;
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
    if (active->used_up() || !active->matcher.takes(packet, *view)) continue;
    ++active->matches;
    if (gone) continue;
    act(active->rule, packet, *view, answer_, verdict);
    if (active->rule.action.kind == ActionKind::stop_qp && stopped_.size() < kMostStopped)
      stopped_.push_back({packet.device, view->queue_pair, &active->rule});
    gone = verdict.drop || (!verdict.answer.empty() && !verdict.goes_on_when_answered);
  }
}

std::vector<FaultPlan::RuleState> FaultPlan::states() const {
  std::vector<RuleState> states;
  for (const auto& active : rules_) states.push_back({active->rule.name, active->matches, active->times});
  return states;
}

}  // namespace urnic::fault
