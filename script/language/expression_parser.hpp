// Expressions: sums, bits, places in memory, bytes. Binary operators bind as in C.
#pragma once

#include <span>

#include "script/language/symbols.hpp"
#include "script/language/syntax_tree.hpp"
#include "script/language/token_reader.hpp"

namespace urnic::script {

class ExpressionParser {
 public:
  // Both outlive it.
  ExpressionParser(TokenReader& tokens, const Symbols& symbols) : tokens_(tokens), symbols_(symbols) {}

  // A value of this type, in which `words` have a meaning. Throws ScriptError.
  Expression parse(ValueType type, std::span<const NamedValue> words = {});
  // Bytes of a memory region: m[0, 64].
  Expression place();
  // The name of an object of this kind.
  Expression object(ObjectKind kind);

 private:
  static constexpr std::uint32_t kMostDepth = 64;

  Expression binary(std::uint32_t least_strength, std::uint32_t depth);
  Expression unary(std::uint32_t depth);
  Expression primary(std::uint32_t depth);
  Expression name_or_call(std::uint32_t depth);
  Expression text();
  Expression call(const Token& name, std::uint32_t depth);
  void check_type(const Expression& expression, ValueType type) const;

  TokenReader& tokens_;
  const Symbols& symbols_;
  std::span<const NamedValue> words_;
};

}  // namespace urnic::script
