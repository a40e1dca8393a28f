#include "script/values/scope.hpp"

#include <charconv>

#include "wire/aeth.hpp"

namespace urnic::script {
namespace {

using Kind = Expression::Kind;

// No statement has use for more.
constexpr std::uint64_t kMostBytes = 1 << 20;

Bytes hexadecimal(const Expression& text) {
  Bytes bytes;
  std::string digits;
  for (const char c : text.name)
    if (c != ' ' && c != ':') digits += c;
  if (digits.size() % 2 != 0)
    throw ScriptError(text.at, "two hexadecimal digits make a byte: one is missing");
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    std::uint8_t value = 0;
    const auto [end, error] = std::from_chars(digits.data() + i, digits.data() + i + 2, value, 16);
    if (error != std::errc() || end != digits.data() + i + 2)
      throw ScriptError(text.at, "only hexadecimal digits, spaces and colons are expected here");
    bytes.push_back(std::byte{value});
  }
  return bytes;
}

Bytes word(std::uint64_t value) {
  Bytes bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(value >> 8 * i));
  return bytes;
}

}  // namespace

std::byte pattern_byte(std::uint64_t position, std::uint64_t seed) {
  return static_cast<std::byte>(position * 7 + position / 251 + seed);
}

std::uint64_t Scope::value(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? 0 : found->second;
}

const std::string* Scope::text(const Expression& expression) const {
  if (expression.kind == Kind::text) return &expression.name;
  const auto found = expression.kind == Kind::name ? texts_.find(expression.name) : texts_.end();
  return found == texts_.end() ? nullptr : &found->second;
}

std::uint64_t Scope::number(const Expression& expression) const {
  if (text(expression) != nullptr) throw ScriptError(expression.at, "a number is expected here");
  switch (expression.kind) {
    case Kind::number:
    case Kind::duration:
      return expression.value;
    case Kind::name:
      return value(expression.name);
    case Kind::unary:
      return expression.name == "-" ? -number(expression.operands[0]) : ~number(expression.operands[0]);
    case Kind::binary:
      return binary(expression);
    case Kind::call:
      return syndrome(expression);
    case Kind::text:
    case Kind::place:
      break;
  }
  throw ScriptError(expression.at, "a number is expected here");
}

std::uint64_t Scope::binary(const Expression& expression) const {
  const std::uint64_t left = number(expression.operands[0]);
  const std::uint64_t right = number(expression.operands[1]);
  const std::string& sign = expression.name;
  if (sign == "+") return left + right;
  if (sign == "-") return left - right;
  if (sign == "*") return left * right;
  if (sign == "&") return left & right;
  if (sign == "|") return left | right;
  if (sign == "^") return left ^ right;
  if (sign == "<<" || sign == ">>") {
    if (right >= 64) throw ScriptError(expression.at, "a number has 64 bits: it is shifted by 63 at most");
    return sign == "<<" ? left << right : left >> right;
  }
  if (right == 0) throw ScriptError(expression.at, "a division by zero");
  return sign == "/" ? left / right : left % right;
}

std::uint64_t Scope::syndrome(const Expression& expression) const {
  const std::uint64_t code = number(expression.operands[0]);
  if (code > 31)
    throw ScriptError(expression.operands[0].at, "a code of a syndrome has five bits: 31 at most");
  const auto five_bits = static_cast<std::uint8_t>(code);
  if (expression.name == "ack") return wire::ack_syndrome(five_bits);
  if (expression.name == "rnr") return wire::rnr_nak_syndrome(five_bits);
  if (expression.name == "nak") return wire::nak_syndrome(static_cast<wire::NakCode>(five_bits));
  throw ScriptError(expression.at, "a number is expected here");
}

Nanoseconds Scope::span(const Expression& expression) const {
  return Nanoseconds(static_cast<std::int64_t>(number(expression)));
}

Bytes Scope::bytes(const Expression& expression, const ReadMemory& memory) const {
  if (expression.kind == Kind::place) return memory(place(expression));
  if (expression.kind == Kind::call && expression.name != "ack" && expression.name != "rnr" &&
      expression.name != "nak")
    return call(expression);
  const std::uint64_t length = number(expression);
  if (length > kMostBytes)
    throw ScriptError(expression.at, "these are more bytes than a script may have: 1 MiB");
  Bytes bytes;
  for (std::uint64_t i = 0; i < length; ++i) bytes.push_back(pattern_byte(i, 0));
  return bytes;
}

Bytes Scope::call(const Expression& expression) const {
  const Expression& first = expression.operands[0];
  if (expression.name == "hex") return hexadecimal(first);
  if (expression.name == "u64") return word(number(first));
  Bytes bytes;
  if (expression.name == "text") {
    for (const char c : first.name) bytes.push_back(static_cast<std::byte>(c));
    return bytes;
  }
  const std::uint64_t length = number(first);
  if (length > kMostBytes) throw ScriptError(first.at, "these are more bytes than a script may have: 1 MiB");
  if (expression.name == "zeros") return Bytes(length);
  const std::uint64_t seed = expression.operands.size() > 1 ? number(expression.operands[1]) : 0;
  const std::uint64_t from = expression.operands.size() > 2 ? number(expression.operands[2]) : 0;
  for (std::uint64_t i = 0; i < length; ++i) bytes.push_back(pattern_byte(from + i, seed));
  return bytes;
}

Place Scope::place(const Expression& expression) const {
  Place place{expression.name, number(expression.operands[0]), number(expression.operands[1])};
  const std::uint64_t length = value(place.region + ".length");
  if (place.offset > length || place.length > length - place.offset)
    throw ScriptError(expression.at,
                      "the region " + place.region + " has " + std::to_string(length) + " bytes");
  return place;
}

}  // namespace urnic::script
