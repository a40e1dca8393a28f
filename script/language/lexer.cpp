#include "script/language/lexer.hpp"

#include <array>
#include <limits>
#include <optional>

namespace urnic::script {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::optional<std::uint32_t> hexadecimal_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return {};
}

// The longer ones first.
constexpr std::string_view kSigns[] = {"=?", "!=", "<=", ">=", "<<", ">>", "..", "=", "<", ">", "+", "-", "*",
                                       "/",  "%",  "&",  "|",  "^",  "~",  "(",  ")", "[", "]", ",", "@"};

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};
constexpr std::array<Unit, 4> kUnits{{{"ns", 1}, {"us", 1'000}, {"ms", 1'000'000}, {"s", 1'000'000'000}}};

// `value * base + digit`; empty: it has more than 64 bits.
std::optional<std::uint64_t> append(std::uint64_t value, std::uint32_t base, std::uint32_t digit) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  if (value > (kMost - digit) / base) return {};
  return value * base + digit;
}

}  // namespace

char Lexer::peek(std::size_t ahead) const {
  return place_ + ahead < text_.size() ? text_[place_ + ahead] : '\0';
}

void Lexer::advance(std::size_t bytes) {
  place_ += bytes;
  at_.column += static_cast<std::uint32_t>(bytes);
}

void Lexer::skip_blanks() {
  for (;;) {
    if (peek() == ' ' || peek() == '\t' || peek() == '\r') {
      advance();
    } else if (peek() == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
      place_ += peek(1) == '\n' ? 2 : 3;
      at_ = {at_.line + 1, 1};
    } else if (peek() == '#') {
      while (place_ < text_.size() && peek() != '\n') advance();
    } else {
      return;
    }
  }
}

Token Lexer::finish(TokenKind kind, std::size_t begin, Position at) const {
  return {kind, at, text_.substr(begin, place_ - begin), 0};
}

Token Lexer::next() {
  skip_blanks();
  if (place_ >= text_.size()) return finish(TokenKind::end, place_, at_);
  if (peek() == '\n') {
    const Position at = at_;
    const std::size_t begin = place_++;
    at_ = {at.line + 1, 1};
    return finish(TokenKind::line_end, begin, at);
  }
  if (is_letter(peek())) return word();
  if (is_digit(peek())) return number();
  if (peek() == '"') return quoted();
  return sign();
}

Token Lexer::word() {
  const Position at = at_;
  const std::size_t begin = place_;
  // A dot is a part of a word where a letter or digit follows, as in bth.psn; two dots are a range.
  while (is_letter(peek()) || is_digit(peek()) ||
         (peek() == '.' && (is_letter(peek(1)) || is_digit(peek(1)))))
    advance();
  return finish(TokenKind::word, begin, at);
}

Token Lexer::number() {
  Token token;
  token.kind = TokenKind::number;
  token.at = at_;
  const std::size_t begin = place_;
  if (peek() == '0' && (peek(1) == 'x' || peek(1) == 'X')) {
    hexadecimal(token);
  } else {
    decimal(token);
  }
  token.text = text_.substr(begin, place_ - begin);
  if (is_letter(peek()) || is_digit(peek()))
    throw ScriptError(token.at, "a number ends with a space, a sign, or one of the units ns, us, ms and s");
  return token;
}

void Lexer::hexadecimal(Token& token) {
  advance(2);
  if (!hexadecimal_digit(peek())) throw ScriptError(token.at, "a hexadecimal number has digits behind 0x");
  while (const auto digit = hexadecimal_digit(peek())) {
    const auto value = append(token.value, 16, *digit);
    if (!value) throw ScriptError(token.at, "the number has more than 64 bits");
    token.value = *value;
    advance();
  }
}

void Lexer::decimal(Token& token) {
  const auto digits_into = [&](std::uint64_t& value) {
    std::uint32_t count = 0;
    for (; is_digit(peek()); advance(), ++count) {
      const auto longer = append(value, 10, static_cast<std::uint32_t>(peek() - '0'));
      if (!longer) throw ScriptError(token.at, "the number has more than 64 bits");
      value = *longer;
    }
    return count;
  };
  digits_into(token.value);
  std::uint64_t fraction = 0;
  std::uint32_t fraction_digits = 0;
  if (peek() == '.' && is_digit(peek(1))) {
    advance();
    fraction_digits = digits_into(fraction);
  }
  unit(token, fraction, fraction_digits);
}

// Reads a unit if there is one: the number before it, with its fraction, is a span of time.
void Lexer::unit(Token& token, std::uint64_t fraction, std::uint32_t digits) {
  for (const Unit& unit : kUnits) {
    if (text_.substr(place_, unit.name.size()) != unit.name) continue;
    const char behind = peek(unit.name.size());
    if (is_letter(behind) || is_digit(behind)) continue;
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
    if (token.value > kMost / unit.nanoseconds) throw ScriptError(token.at, "the span of time is too long");
    std::uint64_t scale = unit.nanoseconds;
    for (std::uint32_t i = 0; i < digits; ++i) {
      if (scale % 10 != 0) throw ScriptError(token.at, "a span of time is a whole number of nanoseconds");
      scale /= 10;
    }
    token.value = token.value * unit.nanoseconds + fraction * scale;
    token.kind = TokenKind::duration;
    advance(unit.name.size());
    return;
  }
  if (digits != 0) throw ScriptError(token.at, "only spans of time have a fraction: 1.5ms");
}

Token Lexer::quoted() {
  const Position at = at_;
  advance();
  const std::size_t begin = place_;
  while (peek() != '"') {
    if (place_ >= text_.size() || peek() == '\n') throw ScriptError(at, "the text has no closing quote");
    advance();
  }
  const Token token = finish(TokenKind::text, begin, at);
  advance();
  return token;
}

Token Lexer::sign() {
  const Position at = at_;
  const std::size_t begin = place_;
  for (const std::string_view sign : kSigns) {
    if (text_.substr(place_, sign.size()) != sign) continue;
    advance(sign.size());
    return finish(TokenKind::sign, begin, at);
  }
  const unsigned char c = static_cast<unsigned char>(peek());
  const std::string shown = c >= ' ' && c < 0x7F ? std::string("'") + peek() + "'"
                                                 : "the byte " + std::to_string(static_cast<unsigned>(c));
  throw ScriptError(at, shown + " has no meaning in a script");
}

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::word:
    case TokenKind::sign:
      return '\'' + std::string(token.text) + '\'';
    case TokenKind::number:
    case TokenKind::duration:
      return std::string(token.text);
    case TokenKind::text:
      return '"' + std::string(token.text) + '"';
    case TokenKind::line_end:
      return "the end of the line";
    case TokenKind::end:
      break;
  }
  return "the end of the script";
}

}  // namespace urnic::script
