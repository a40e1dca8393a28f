#include "device_model/fault/plan_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "device_model/fault/opcode_names.hpp"
#include "device_model/fault/packet_filter.hpp"
#include "device_model/settings/table_reader.hpp"
#include "wire/aeth.hpp"
#include "wire/psn.hpp"

namespace urnic::fault {
namespace {

using settings::TableReader;
using transport::Nanoseconds;

constexpr std::size_t kMostRules = 256;
constexpr std::size_t kMostPsns = 4096;
constexpr std::int64_t kMostPackets = 1'000'000'000;

// In the order of ActionKind.
constexpr std::array<std::string_view, 12> kActions{"drop",
                                                    "duplicate",
                                                    "delay",
                                                    "reorder",
                                                    "corrupt_before_icrc",
                                                    "corrupt_after_icrc",
                                                    "mark_ecn",
                                                    "cnp",
                                                    "rnr_nak",
                                                    "nak",
                                                    "cut_link",
                                                    "stop_qp"};
// In the order of wire::NakCode.
constexpr std::array<std::string_view, 5> kNakCodes{"psn_sequence_error", "invalid_request",
                                                    "remote_access_error", "remote_operational_error",
                                                    "invalid_rd_request"};
constexpr std::array<std::string_view, 2> kDirections{"tx", "rx"};

constexpr std::array<std::string_view, 15> kMatchKeys{
    "name", "device",       "direction",    "filter",     "qp",    "qp_ordinal", "opcode", "mad",
    "psn",  "relative_psn", "transmission", "occurrence", "every", "count",      "action"};

// The keys of an action, besides kMatchKeys.
std::vector<std::string_view> action_keys(ActionKind kind) {
  switch (kind) {
    case ActionKind::duplicate:
      return {"copies"};
    case ActionKind::delay:
      return {"delay_us"};
    case ActionKind::reorder:
      return {"behind_packets", "hold_us"};
    case ActionKind::corrupt_before_icrc:
    case ActionKind::corrupt_after_icrc:
      return {"bits"};
    case ActionKind::rnr_nak:
      return {"timer_code"};
    case ActionKind::nak:
      return {"code"};
    case ActionKind::cut_link:
      return {"for_us"};
    default:
      return {};
  }
}

// A number or a list of numbers.
std::vector<std::uint32_t> numbers(const TableReader& reader, std::string_view key, std::int64_t highest,
                                   std::size_t most) {
  const toml::node* node = reader.table().get(key);
  if (node == nullptr) return {};
  const std::string allowed =
      fmt::format("a whole number from 0 to {}, or a list of 1 to {} of them", highest, most);
  std::vector<std::uint32_t> values;
  const auto add = [&](const toml::node& entry) {
    const auto value = entry.value_exact<std::int64_t>();
    if (!value || *value < 0 || *value > highest) reader.refuse(key, entry, allowed);
    values.push_back(static_cast<std::uint32_t>(*value));
  };
  if (const toml::array* list = node->as_array()) {
    if (list->empty() || list->size() > most) reader.refuse(key, *node, allowed);
    for (const toml::node& entry : *list) add(entry);
  } else {
    add(*node);
  }
  return values;
}

// Calls `take` with each name that the key has, one or a list.
template <class Take>
void read_names(const TableReader& reader, std::string_view key, Take take) {
  const toml::node* node = reader.table().get(key);
  if (node == nullptr) return;
  const toml::array* list = node->as_array();
  if (list == nullptr) return take(*node, node->value_exact<std::string>());
  if (list->empty()) reader.refuse(key, *node, "a name or a list of one or more");
  for (const toml::node& entry : *list) take(entry, entry.value_exact<std::string>());
}

std::bitset<256> opcodes(const TableReader& reader) {
  std::bitset<256> all;
  read_names(reader, "opcode", [&](const toml::node& entry, const std::optional<std::string>& name) {
    const std::bitset<256> found = name ? opcodes_named(*name) : std::bitset<256>();
    if (found.none()) {
      reader.refuse("opcode", entry,
                    fmt::format("one of these names or a list of them, with \"RC \" or another service in "
                                "front to mean that service only: {}",
                                operation_names()));
    }
    all |= found;
  });
  return all;
}

std::vector<MadPattern> mads(const TableReader& reader) {
  std::vector<MadPattern> all;
  read_names(reader, "mad", [&](const toml::node& entry, const std::optional<std::string>& name) {
    const auto found = name ? mad_pattern(*name) : std::nullopt;
    if (!found)
      reader.refuse("mad", entry,
                    "a management datagram's name as urnic trace shows it, of the classes Subn, SubnAdm and "
                    "Performance, such as \"SubnSet(PortInfo)\", \"SubnAdmGet(PathRecord)\", "
                    "\"PerformanceGet(PortCounters)\" or \"SubnGet\" for all of a method, or a list of them");
    all.push_back(*found);
  });
  return all;
}

std::string filter(const TableReader& reader) {
  constexpr std::string_view allowed = "a libpcap filter expression, such as \"udp port 4791\"";
  std::string expression = reader.text("filter", allowed).value_or("");
  try {
    const PacketFilter check(expression);
  } catch (const std::runtime_error& error) {
    reader.refuse("filter", *reader.table().get("filter"), fmt::format("{}: {}", allowed, error.what()));
  }
  return expression;
}

Nanoseconds microseconds(const TableReader& reader, std::string_view key, double otherwise) {
  const double value =
      reader.number(key, 0, 1e9, "microseconds, from 0 to 1000000000, such as 250").value_or(otherwise);
  return Nanoseconds(std::llround(value * 1000));
}

std::uint32_t packets(const TableReader& reader, std::string_view key, std::int64_t otherwise,
                      std::int64_t highest = kMostPackets) {
  return static_cast<std::uint32_t>(reader.integer(key, 1, highest).value_or(otherwise));
}

Match read_match(const TableReader& reader, std::span<const std::string> devices) {
  Match match;
  std::vector<std::string_view> names{"all"};
  names.insert(names.end(), devices.begin(), devices.end());
  const std::size_t device = reader.word("device", names).value_or(0);
  if (device != 0) match.device = static_cast<std::uint32_t>(device - 1);
  match.direction = static_cast<link::Direction>(reader.word("direction", kDirections).value_or(0));
  match.filter = filter(reader);
  if (const auto qp = reader.integer("qp", 0, 0xFFFFFE))
    match.qp = wire::Qpn{static_cast<std::uint32_t>(*qp)};
  match.qp_ordinal = packets(reader, "qp_ordinal", 0);
  if (match.qp && match.qp_ordinal != 0)
    reader.refuse("qp_ordinal", *reader.table().get("qp_ordinal"), "one of qp and qp_ordinal, not both");
  match.opcodes = opcodes(reader);
  match.mads = mads(reader);
  match.psns = numbers(reader, "psn", wire::Psn::kMask, kMostPsns);
  if (const auto relative = numbers(reader, "relative_psn", wire::Psn::kMask, kMostPsns); !relative.empty()) {
    if (!match.psns.empty())
      reader.refuse("relative_psn", *reader.table().get("relative_psn"),
                    "one of psn and relative_psn, not both");
    match.psns = relative;
    match.psns_relative = true;
  }
  match.transmission = packets(reader, "transmission", 0);
  match.occurrence = packets(reader, "occurrence", 0);
  match.every = packets(reader, "every", 0);
  if (match.occurrence != 0 && match.every != 0)
    reader.refuse("every", *reader.table().get("every"), "one of occurrence and every, not both");
  match.count = packets(reader, "count", 0);
  return match;
}

ActionKind read_kind(const TableReader& reader) {
  const auto kind = reader.word("action", kActions);
  if (!kind)
    reader.fail(reader.table().source(),
                fmt::format("fault.action is missing: allowed is \"{}\"", fmt::join(kActions, "\", \"")));
  return static_cast<ActionKind>(*kind);
}

Action read_action(const TableReader& reader, ActionKind kind) {
  Action action;
  action.kind = kind;
  switch (kind) {
    case ActionKind::duplicate:
      action.copies = packets(reader, "copies", 1, 16);
      break;
    case ActionKind::delay:
      action.delay = microseconds(reader, "delay_us", 100);
      break;
    case ActionKind::reorder:
      action.behind = packets(reader, "behind_packets", 1, 1024);
      action.hold = microseconds(reader, "hold_us", 100);
      break;
    case ActionKind::corrupt_before_icrc:
    case ActionKind::corrupt_after_icrc:
      action.bits = numbers(reader, "bits", 34'000, 8);
      break;
    case ActionKind::rnr_nak:
      action.syndrome =
          wire::rnr_nak_syndrome(static_cast<std::uint8_t>(reader.integer("timer_code", 0, 31).value_or(1)));
      break;
    case ActionKind::nak:
      action.syndrome =
          wire::nak_syndrome(static_cast<wire::NakCode>(reader.word("code", kNakCodes).value_or(0)));
      break;
    case ActionKind::cut_link:
      action.cut = microseconds(reader, "for_us", 1000);
      break;
    default:
      break;
  }
  return action;
}

FaultRule read_rule(const TableReader& reader, std::size_t number, std::span<const std::string> devices) {
  const ActionKind kind = read_kind(reader);
  std::vector<std::string_view> keys(kMatchKeys.begin(), kMatchKeys.end());
  for (const std::string_view key : action_keys(kind)) keys.push_back(key);
  reader.known_keys(keys);
  FaultRule rule;
  constexpr std::string_view name_rule = "a text of 1 to 60 characters";
  rule.name = reader.text("name", name_rule).value_or(fmt::format("fault {}", number));
  if (rule.name.empty() || rule.name.size() > 60)
    reader.refuse("name", *reader.table().get("name"), name_rule);
  rule.match = read_match(reader, devices);
  rule.action = read_action(reader, kind);
  return rule;
}

}  // namespace

std::vector<FaultRule> parse_plan(const std::string& text, const std::string& name,
                                  std::span<const std::string> devices) {
  const toml::table parsed = settings::parse(text, name);
  const TableReader root(parsed, name, "");
  root.known_keys({"fault"});
  const toml::array* list = root.sections("fault", kMostRules);
  if (list == nullptr)
    throw settings::SettingError(fmt::format("{}:1: a plan has at least one section [[fault]]", name));
  std::vector<FaultRule> rules;
  for (const toml::node& entry : *list)
    rules.push_back(read_rule(TableReader(*entry.as_table(), name, "fault."), rules.size() + 1, devices));
  return rules;
}

}  // namespace urnic::fault
