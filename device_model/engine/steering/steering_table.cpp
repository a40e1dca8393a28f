#include "device_model/engine/steering/steering_table.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace urnic::engine {
namespace {

auto rank(const SteeringRule& rule) { return std::tuple(rule.kind, rule.priority); }

bool is_group(const FrameHeaders& frame) { return (frame.fields.destination_mac[0] & 1) != 0; }

bool takes(const SteeringRule& rule, const FrameHeaders& frame, std::optional<PacketOwner> owner) {
  switch (rule.kind) {
    case RuleKind::sniffer:
      return !owner || !rule.sees_only || *owner == *rule.sees_only;
    case RuleKind::all_default:
      return true;
    case RuleKind::normal:
      return rule.match.takes(frame);
    case RuleKind::multicast_default:
      return is_group(frame);
  }
  return false;
}

}  // namespace

bool FrameMatch::takes(const FrameHeaders& frame) const {
  if ((frame.layers & layers) != layers) return false;
  using Words = std::array<std::uint64_t, sizeof(FrameFields) / sizeof(std::uint64_t)>;
  Words field;
  Words wanted;
  Words masked;
  std::memcpy(field.data(), &frame.fields, sizeof field);
  std::memcpy(wanted.data(), &value, sizeof wanted);
  std::memcpy(masked.data(), &mask, sizeof masked);
  std::uint64_t differences = 0;
  for (std::size_t i = 0; i < field.size(); ++i) differences |= (field[i] ^ wanted[i]) & masked[i];
  return differences == 0;
}

std::uint32_t SteeringTable::add(const SteeringRule& rule) {
  const auto place =
      std::upper_bound(rules_.begin(), rules_.end(), rule,
                       [](const SteeringRule& a, const Entry& b) { return rank(a) < rank(b.rule); });
  rules_.insert(place, {rule, ++next_number_});
  return next_number_;
}

void SteeringTable::remove(std::span<const std::uint32_t> numbers) {
  std::erase_if(rules_, [numbers](const Entry& entry) {
    return std::binary_search(numbers.begin(), numbers.end(), entry.number);
  });
}

bool SteeringTable::steer(const FrameHeaders& frame, RuleKind first, RuleKind last,
                          std::vector<SteeringTarget>& targets, std::optional<PacketOwner> owner) const {
  const SteeringRule* taken_by = nullptr;
  for (const Entry& entry : rules_) {
    const SteeringRule& rule = entry.rule;
    if (rule.kind < first) continue;
    if (rule.kind > last || (taken_by != nullptr && rank(rule) != rank(*taken_by))) break;
    if (taken_by != nullptr && (rule.passes_on || rule.match != taken_by->match)) continue;
    if (!takes(rule, frame, owner)) continue;
    targets.push_back(rule.target);
    if (rule.kind != RuleKind::sniffer && !rule.passes_on) taken_by = &rule;
  }
  return taken_by != nullptr;
}

}  // namespace urnic::engine
