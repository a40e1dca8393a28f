#include "script/packets/packet_match.hpp"

#include <algorithm>

#include "analysis/dissection/field_value.hpp"
#include "analysis/dissection/frame_text.hpp"
#include "script/language/vocabulary.hpp"
#include "script/packets/packet_fields.hpp"

namespace urnic::script {
namespace {

constexpr std::size_t kShownBytes = 16;

// The beginning of bytes, and how many they are.
std::string show(std::span<const std::byte> bytes, std::size_t from) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = std::to_string(bytes.size()) + " bytes";
  if (bytes.size() <= from) return text;
  text += from == 0 ? ":" : ", from byte " + std::to_string(from) + " on:";
  for (std::size_t i = from; i < std::min(bytes.size(), from + kShownBytes); ++i) {
    const auto value = std::to_integer<unsigned>(bytes[i]);
    text += {' ', kDigits[value >> 4], kDigits[value & 15]};
  }
  return bytes.size() > from + kShownBytes ? text + " …" : text;
}

std::optional<Difference> compare_payload(const Argument& argument, const analysis::Dissection& packet,
                                          const Scope& scope, const Scope::ReadMemory& memory) {
  const Bytes expected = scope.bytes(argument.values[0], memory);
  const auto seen = packet.payload();
  const bool equal = std::equal(expected.begin(), expected.end(), seen.begin(), seen.end());
  if (equal == (argument.comparison == Comparison::equal)) return {};
  if (equal) return Difference{argument.at, "payload", "other bytes", show(seen, 0)};
  const auto differ = std::mismatch(expected.begin(), expected.end(), seen.begin(), seen.end());
  const auto from = static_cast<std::size_t>(differ.first - expected.begin());
  return Difference{argument.at, "payload", show(expected, from), show(seen, from)};
}

// What an argument expects, in words: "at most 7".
std::string in_words(Comparison comparison, const std::string& first, const std::string& second) {
  switch (comparison) {
    case Comparison::equal:
    case Comparison::bind:
      return first;
    case Comparison::different:
      return "not " + first;
    case Comparison::less:
      return "less than " + first;
    case Comparison::at_most:
      return "at most " + first;
    case Comparison::greater:
      return "more than " + first;
    case Comparison::at_least:
      return "at least " + first;
    case Comparison::within:
      return first + " to " + second;
  }
  return first;
}

// -1, 0, 1: `a` is before, at, behind `b`.
int order(std::uint64_t a, std::uint64_t b, std::uint32_t bits) {
  if (bits == 0) return a < b ? -1 : a > b ? 1 : 0;
  const auto shift = 64 - bits;
  const auto distance = static_cast<std::int64_t>((a - b) << shift);
  return distance < 0 ? -1 : distance > 0 ? 1 : 0;
}

bool holds(Comparison comparison, std::uint64_t seen, std::uint64_t first, std::uint64_t second,
           std::uint32_t bits) {
  const int to_first = order(seen, first, bits);
  switch (comparison) {
    case Comparison::equal:
      return to_first == 0;
    case Comparison::different:
      return to_first != 0;
    case Comparison::less:
      return to_first < 0;
    case Comparison::at_most:
      return to_first <= 0;
    case Comparison::greater:
      return to_first > 0;
    case Comparison::at_least:
      return to_first >= 0;
    case Comparison::within:
      return to_first >= 0 && order(seen, second, bits) <= 0;
    case Comparison::bind:
      break;
  }
  return true;
}

std::optional<Difference> compare_length(const Argument& argument, const analysis::Dissection& packet,
                                         const Scope& scope) {
  const std::size_t seen = packet.payload().size();
  const auto expected = compare_number(argument, seen, scope);
  if (!expected) return {};
  return Difference{argument.at, "payload_length", *expected, std::to_string(seen)};
}

// The argument's values as the field's, with their meanings.
std::string value_in_words(const Argument& argument, const analysis::Field& field, const Scope& scope) {
  const auto text = [&](const Expression& value) {
    std::uint64_t number = scope.number(value);
    if (is_sequence_number(field)) number &= wire::Psn::kMask;
    return analysis::value_and_meaning(field, {number, {}});
  };
  return in_words(argument.comparison, text(argument.values.front()), text(argument.values.back()));
}

std::optional<Difference> compare_field(const Argument& argument, const analysis::Dissection& packet,
                                        const Scope& scope) {
  const auto placed = find_packet_field(packet, argument.name);
  if (!placed)
    return Difference{argument.at, argument.name, "a packet with this field", analysis::summary(packet)};
  const analysis::Field& field = *placed->field;
  if (argument.comparison == Comparison::bind) return {};
  const analysis::FieldValue seen = analysis::read_value(*placed, packet.frame());
  const auto difference = [&](const std::string& expected) {
    return Difference{argument.at, field.name, expected, analysis::value_and_meaning(field, seen)};
  };
  const Expression& value = argument.values[0];
  if (const std::string* const text = scope.text(value)) {
    try {
      const bool equal = analysis::parse_value(field, *text) == seen;
      if (equal == (argument.comparison != Comparison::different)) return {};
    } catch (const analysis::FieldError& error) {
      throw ScriptError(value.at, error.what());
    }
    return difference(in_words(argument.comparison, *text, {}));
  }
  if (!analysis::is_number(field.kind)) throw ScriptError(value.at, argument.name + " is written in quotes");
  const std::uint32_t bits = is_sequence_number(field) ? field.width : 0;
  if (!compare_number(argument, seen.number, scope, bits)) return {};
  return difference(value_in_words(argument, field, scope));
}

bool is_of_kind(const analysis::Dissection& packet, const PacketKind& kind) {
  if (packet.transport().bth.opcode != kind.opcode) return false;
  if (!kind.cm_attribute) return true;
  const auto attribute = find_packet_field(packet, "mad.attributeid");
  return attribute && analysis::read_number(*attribute, packet.frame()) == kind.cm_attribute->value;
}

}  // namespace

std::optional<std::string> compare_number(const Argument& argument, std::uint64_t seen, const Scope& scope,
                                          std::uint32_t bits) {
  if (argument.comparison == Comparison::bind) return {};
  const std::uint64_t first = scope.number(argument.values.front());
  const std::uint64_t second = scope.number(argument.values.back());
  if (holds(argument.comparison, seen, first, second, bits)) return {};
  return in_words(argument.comparison, std::to_string(first), std::to_string(second));
}

std::optional<Difference> compare_packet(const Statement& statement, const ScriptEnd& end,
                                         const analysis::Dissection& packet, const Scope& scope,
                                         const Scope::ReadMemory& memory) {
  if (!statement.word.empty() && !is_of_kind(packet, packet_kind(statement.word, end.service))) {
    const PacketKind kind = packet_kind(statement.word, end.service);
    const std::string expected = kind.cm_attribute ? statement.word : wire::name(kind.opcode);
    return Difference{statement.word_at, "bth.opcode", expected, analysis::summary(packet)};
  }
  for (const Argument& argument : statement.arguments) {
    auto difference = argument.name == "payload"          ? compare_payload(argument, packet, scope, memory)
                      : argument.name == "payload_length" ? compare_length(argument, packet, scope)
                                                          : compare_field(argument, packet, scope);
    if (difference) return difference;
  }
  return {};
}

void bind_packet(const Statement& statement, const analysis::Dissection& packet, Scope& scope) {
  for (const Argument& argument : statement.arguments) {
    if (argument.comparison != Comparison::bind) continue;
    if (argument.name == "payload_length") {
      scope.set(argument.variable, packet.payload().size());
      continue;
    }
    const auto placed = find_packet_field(packet, argument.name);
    if (!placed || !analysis::is_number(placed->field->kind))
      throw ScriptError(argument.at, "only a number is a variable's value");
    scope.set(argument.variable, analysis::read_number(*placed, packet.frame()));
  }
}

}  // namespace urnic::script
