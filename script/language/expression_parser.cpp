#include "script/language/expression_parser.hpp"

#include <algorithm>
#include <string>

namespace urnic::script {
namespace {

struct Operator {
  std::string_view sign;
  std::uint32_t strength;
};
constexpr Operator kOperators[] = {{"|", 1}, {"^", 2}, {"&", 3}, {"<<", 4}, {">>", 4},
                                   {"+", 5}, {"-", 5}, {"*", 6}, {"/", 6},  {"%", 6}};

const Operator* find_operator(const Token& token) {
  if (token.kind != TokenKind::sign) return nullptr;
  const auto* const found = std::find_if(std::begin(kOperators), std::end(kOperators),
                                         [&](const Operator& each) { return each.sign == token.text; });
  return found == std::end(kOperators) ? nullptr : found;
}

bool gives_bytes(const Expression& expression) {
  if (expression.kind == Expression::Kind::place) return true;
  return expression.kind == Expression::Kind::call && find_function(expression.name)->gives_bytes;
}

// A duration appears in it somewhere.
bool has_duration(const Expression& expression) {
  return expression.kind == Expression::Kind::duration ||
         std::any_of(expression.operands.begin(), expression.operands.end(), has_duration);
}

}  // namespace

Expression ExpressionParser::parse(ValueType type, std::span<const NamedValue> words) {
  words_ = words;
  if (type == ValueType::place) return place();
  if (type == ValueType::field && tokens_.ahead().kind == TokenKind::text) return text();
  Expression expression = binary(1, 0);
  check_type(expression, type);
  return expression;
}

void ExpressionParser::check_type(const Expression& expression, ValueType type) const {
  if (type == ValueType::bytes) {
    // A bare number is a pattern of that many bytes.
    return;
  }
  if (gives_bytes(expression)) throw ScriptError(expression.at, "a number is expected here, not bytes");
  const bool is_span = has_duration(expression) || expression.kind == Expression::Kind::name;
  const bool is_zero = expression.kind == Expression::Kind::number && expression.value == 0;
  if (type == ValueType::duration && !is_span && !is_zero)
    throw ScriptError(expression.at, "a span of time is expected here, such as 10us");
}

Expression ExpressionParser::text() {
  const Token token = tokens_.take(TokenKind::text, "text in double quotes is expected here");
  Expression expression;
  expression.kind = Expression::Kind::text;
  expression.at = token.at;
  expression.name = token.text;
  return expression;
}

Expression ExpressionParser::object(ObjectKind kind) {
  const Token name = tokens_.take(TokenKind::word, "the name of an object is expected here");
  if (symbols_.kind_of(name.text) != kind)
    throw ScriptError(name.at, "there is no " + std::string(script::name(kind)) + ' ' +
                                   std::string(name.text) + ": there are " + symbols_.list(kind));
  Expression expression;
  expression.kind = Expression::Kind::name;
  expression.at = name.at;
  expression.name = name.text;
  return expression;
}

Expression ExpressionParser::place() {
  Expression expression;
  expression.kind = Expression::Kind::place;
  expression.at = tokens_.ahead().at;
  const Token name = tokens_.take(TokenKind::word, "a place in memory is expected here, such as m[0, 64]");
  expression.name = name.text;
  if (symbols_.kind_of(name.text) != ObjectKind::region)
    throw ScriptError(name.at, "there is no memory region " + expression.name + ": there are " +
                                   symbols_.list(ObjectKind::region) + " (mr makes one)");
  tokens_.require("[", "the place in the region is expected here, such as [0, 64]");
  const std::span<const NamedValue> words = words_;
  words_ = {};
  expression.operands.push_back(binary(1, 1));
  tokens_.require(",", "a comma and the length are expected here");
  expression.operands.push_back(binary(1, 1));
  tokens_.require("]", "] is expected here");
  words_ = words;
  return expression;
}

// Precedence climbing: operators of at least this strength.
Expression ExpressionParser::binary(std::uint32_t least_strength, std::uint32_t depth) {
  if (depth > kMostDepth) throw ScriptError(tokens_.ahead().at, "the expression is nested too deeply");
  Expression left = unary(depth);
  while (const Operator* const found = find_operator(tokens_.ahead())) {
    if (found->strength < least_strength) break;
    const Token sign = tokens_.take();
    Expression both;
    both.kind = Expression::Kind::binary;
    both.at = sign.at;
    both.name = sign.text;
    both.operands.push_back(std::move(left));
    both.operands.push_back(binary(found->strength + 1, depth + 1));
    for (const Expression& operand : both.operands)
      if (gives_bytes(operand)) throw ScriptError(operand.at, "bytes are no operand of " + both.name);
    left = std::move(both);
  }
  return left;
}

Expression ExpressionParser::unary(std::uint32_t depth) {
  if (depth > kMostDepth) throw ScriptError(tokens_.ahead().at, "the expression is nested too deeply");
  if (!tokens_.ahead().is("-") && !tokens_.ahead().is("~")) return primary(depth);
  const Token sign = tokens_.take();
  Expression expression;
  expression.kind = Expression::Kind::unary;
  expression.at = sign.at;
  expression.name = sign.text;
  expression.operands.push_back(unary(depth + 1));
  if (gives_bytes(expression.operands[0]))
    throw ScriptError(sign.at, "bytes are no operand of " + expression.name);
  return expression;
}

Expression ExpressionParser::primary(std::uint32_t depth) {
  const Token& ahead = tokens_.ahead();
  if (ahead.kind == TokenKind::number || ahead.kind == TokenKind::duration) {
    const Token token = tokens_.take();
    Expression expression;
    expression.kind = token.kind == TokenKind::number ? Expression::Kind::number : Expression::Kind::duration;
    expression.at = token.at;
    expression.value = token.value;
    return expression;
  }
  if (ahead.kind == TokenKind::word) return name_or_call(depth);
  if (!tokens_.take("(")) tokens_.refuse("a value is expected here");
  Expression inner = binary(1, depth + 1);
  tokens_.require(")", ") is expected here");
  return inner;
}

Expression ExpressionParser::name_or_call(std::uint32_t depth) {
  if (symbols_.kind_of(tokens_.ahead().text) == ObjectKind::region) return place();
  const Token name = tokens_.take();
  if (tokens_.ahead().is("(")) return call(name, depth);
  Expression expression;
  expression.at = name.at;
  if (const auto value = find_value(words_, name.text)) {
    expression.value = *value;
    return expression;
  }
  if (!symbols_.is_value(name.text)) {
    std::string problem = "there is no value " + std::string(name.text);
    problem += words_.empty() ? ": let defines one, =? in an expectation takes one"
                              : ": it is a number, or one of " + list_words(words_);
    throw ScriptError(name.at, problem);
  }
  expression.kind = Expression::Kind::name;
  expression.name = name.text;
  return expression;
}

Expression ExpressionParser::call(const Token& name, std::uint32_t depth) {
  const FunctionSpec* const function = find_function(name.text);
  if (function == nullptr)
    throw ScriptError(name.at,
                      "there is no function " + std::string(name.text) + ": there are " + function_list());
  Expression expression;
  expression.kind = Expression::Kind::call;
  expression.at = name.at;
  expression.name = name.text;
  tokens_.require("(", "( is expected here");
  if (function->takes_text) {
    expression.operands.push_back(text());
  } else {
    const std::span<const NamedValue> outer = words_;
    words_ = function->takes_nak_code ? nak_codes() : std::span<const NamedValue>{};
    do {
      expression.operands.push_back(binary(1, depth + 1));
    } while (tokens_.take(","));
    words_ = outer;
  }
  tokens_.require(")", "a comma or ) is expected here");
  const auto count = expression.operands.size();
  if (count < function->least || count > function->most)
    throw ScriptError(name.at,
                      expression.name + " takes " + std::to_string(function->least) +
                          (function->most != function->least ? " to " + std::to_string(function->most) : "") +
                          " operands");
  return expression;
}

}  // namespace urnic::script
