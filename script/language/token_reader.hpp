// The tokens of a script with one of them looked at ahead: what both parsers read.
#pragma once

#include <string_view>

#include "script/language/lexer.hpp"

namespace urnic::script {

class TokenReader {
 public:
  // Throws ScriptError.
  explicit TokenReader(std::string_view text) : lexer_(text), ahead_(lexer_.next()) {}

  const Token& ahead() const { return ahead_; }
  // The next token.
  Token take() {
    const Token token = ahead_;
    ahead_ = lexer_.next();
    return token;
  }
  // Takes the next token if it is this sign or word.
  bool take(std::string_view sign) {
    if (!ahead_.is(sign)) return false;
    take();
    return true;
  }
  // Throws ScriptError if the next token is something else: "PURPOSE, not 'x'".
  Token take(TokenKind kind, const char* purpose) {
    if (ahead_.kind != kind) refuse(purpose);
    return take();
  }
  void require(std::string_view sign, const char* purpose) {
    if (!take(sign)) refuse(purpose);
  }
  bool at_line_end() const { return ahead_.kind == TokenKind::line_end || ahead_.kind == TokenKind::end; }
  [[noreturn]] void refuse(const std::string& purpose) const {
    throw ScriptError(ahead_.at, purpose + ", not " + describe(ahead_));
  }

 private:
  Lexer lexer_;
  Token ahead_;
};

}  // namespace urnic::script
