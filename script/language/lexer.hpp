// A script's text as words, numbers, spans of time and signs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "script/language/script_error.hpp"

namespace urnic::script {

enum class TokenKind : std::uint8_t {
  word,      // letters, digits, underscores and dots; begins with a letter
  number,    // decimal or hexadecimal, 64 bits
  duration,  // a decimal number with ns, us, ms or s behind it; `value` is nanoseconds
  text,      // in double quotes
  sign,      // one of the signs that expressions and arguments have
  line_end,
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  Position at;
  std::string_view text;    // as it is written; of a text what is between its quotes
  std::uint64_t value = 0;  // of numbers and durations
  bool is(std::string_view sign) const {
    return (kind == TokenKind::sign || kind == TokenKind::word) && text == sign;
  }
};

// Reads tokens one after the other. The text outlives it and its tokens. A comment goes from # to the line's
// end; a line whose last sign is a backslash goes on in the next.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Throws ScriptError. After the end it returns the end again.
  Token next();

 private:
  char peek(std::size_t ahead = 0) const;
  void advance(std::size_t bytes = 1);
  void skip_blanks();
  Token finish(TokenKind kind, std::size_t begin, Position at) const;
  Token word();
  Token number();
  void hexadecimal(Token& token);
  void decimal(Token& token);
  void unit(Token& token, std::uint64_t fraction, std::uint32_t digits);
  Token quoted();
  Token sign();

  std::string_view text_;
  std::size_t place_ = 0;
  Position at_;
};

// For messages: "the word 'send'", "the end of the line".
std::string describe(const Token& token);

}  // namespace urnic::script
