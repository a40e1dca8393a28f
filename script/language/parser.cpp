#include "script/language/parser.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "script/language/expression_parser.hpp"
#include "script/language/symbols.hpp"
#include "script/language/token_reader.hpp"
#include "script/language/vocabulary.hpp"

namespace urnic::script {
namespace {

constexpr std::uint32_t kMostNesting = 8;

class Parser {
 public:
  Parser(std::string_view text, IsField is_field) : tokens_(text), is_field_(is_field) {}

  Script script() {
    while (tokens_.ahead().kind != TokenKind::end) statement_into(script_.statements, 0);
    return std::move(script_);
  }

 private:
  void statement_into(std::vector<Statement>& statements, std::uint32_t nesting);
  std::optional<When> when();
  void object(Statement& statement, const KeywordSpec& keyword);
  void check_object(const Token& name, ObjectRule rule) const;
  void second_word(Statement& statement, const KeywordSpec& keyword);
  void packet_word(Statement& statement);
  void link_word(Statement& statement);
  void word_of(Statement& statement, std::span<const NamedValue> words, const char* purpose);
  void arguments(Statement& statement, const KeywordSpec& keyword);
  void argument(Statement& statement, const KeywordSpec& keyword);
  Comparison comparison(const KeywordSpec& keyword);
  void bind(Argument& argument);
  void amount(Statement& statement, const KeywordSpec& keyword);
  void assignment(Statement& statement, Expression target);
  void repeat(Statement& statement, std::uint32_t nesting);
  void name_what_is_made(const Statement& statement, const KeywordSpec& keyword);
  void end_line();

  Script script_;
  bool has_begun_ = false;
  TokenReader tokens_;
  IsField is_field_;
  Symbols symbols_;
  ExpressionParser expressions_{tokens_, symbols_};
};

void Parser::end_line() {
  if (tokens_.ahead().kind == TokenKind::end) return;
  tokens_.take(TokenKind::line_end, "the end of the line is expected here");
}

void Parser::statement_into(std::vector<Statement>& statements, std::uint32_t nesting) {
  if (tokens_.ahead().kind == TokenKind::line_end) {
    tokens_.take();
    return;
  }
  Statement statement;
  statement.when = when();
  const Token word = tokens_.take(TokenKind::word, "a statement is expected here");
  const KeywordSpec* const keyword = find_keyword(word.text);
  if (keyword == nullptr)
    throw ScriptError(word.at,
                      "there is no statement " + std::string(word.text) + ": there are " + keyword_list());
  statement.at = word.at;
  statement.keyword = keyword->keyword;
  // Objects are made on the link, so it is known before them.
  const bool is_first = !std::exchange(has_begun_, true);
  if (keyword->keyword == Keyword::link && !is_first)
    throw ScriptError(word.at, "link is the first statement of a script");
  object(statement, *keyword);
  second_word(statement, *keyword);
  arguments(statement, *keyword);
  amount(statement, *keyword);
  name_what_is_made(statement, *keyword);
  if (keyword->keyword == Keyword::repeat) {
    repeat(statement, nesting);
  } else {
    end_line();
  }
  statements.push_back(std::move(statement));
}

std::optional<When> Parser::when() {
  const bool after = tokens_.ahead().is("+");
  if (!after && !tokens_.ahead().is("@")) return {};
  When when;
  when.at = tokens_.take().at;
  when.from_start = !after;
  when.earliest = expressions_.parse(ValueType::duration);
  if (tokens_.take("..")) when.latest = expressions_.parse(ValueType::duration);
  return when;
}

void Parser::object(Statement& statement, const KeywordSpec& keyword) {
  if (keyword.object == ObjectRule::none) return;
  const Token name = tokens_.take(TokenKind::word, keyword.object == ObjectRule::new_name
                                                       ? "a name is expected here"
                                                       : "the name of an object is expected here");
  statement.object = name.text;
  statement.object_at = name.at;
  if (keyword.object != ObjectRule::new_name) return check_object(name, keyword.object);
  if (name.text.find('.') != std::string_view::npos) throw ScriptError(name.at, "a name has no dots");
}

void Parser::check_object(const Token& name, ObjectRule rule) const {
  const ObjectKind kind = symbols_.kind_of(name.text);
  const bool fits = rule == ObjectRule::any ? kind != ObjectKind::none
                    : rule == ObjectRule::queue_pair
                        ? kind == ObjectKind::queue_pair
                        : kind == ObjectKind::queue_pair || kind == ObjectKind::shared_receive_queue;
  if (fits) return;
  const std::string known = symbols_.list(ObjectKind::queue_pair);
  throw ScriptError(name.at, "there is no " +
                                 std::string(rule == ObjectRule::any ? "object " : "queue pair ") +
                                 std::string(name.text) +
                                 (known.empty() ? ": qp makes a queue pair" : ": there are " + known));
}

void Parser::second_word(Statement& statement, const KeywordSpec& keyword) {
  switch (keyword.second) {
    case WordRule::none:
      return;
    case WordRule::packet:
      return packet_word(statement);
    case WordRule::work:
      return word_of(statement, work_opcodes(), "a work request");
    case WordRule::event:
      return word_of(statement, async_events(), "an event");
    case WordRule::link:
      return link_word(statement);
    case WordRule::solicited:
      statement.word_at = tokens_.ahead().at;
      if (tokens_.take("solicited")) statement.word = "solicited";
      return;
  }
}

// The opcode may be missing: then the arguments begin here, or the line ends.
void Parser::packet_word(Statement& statement) {
  if (tokens_.ahead().kind != TokenKind::word) return;
  if (!find_value(packet_operations(), tokens_.ahead().text)) {
    if (is_field_(tokens_.ahead().text) ||
        find_argument(spec(statement.keyword), tokens_.ahead().text) != nullptr)
      return;
    throw ScriptError(tokens_.ahead().at, "there is no packet " + std::string(tokens_.ahead().text) +
                                              ": there are " + list_words(packet_operations()));
  }
  const Token word = tokens_.take();
  statement.word = word.text;
  statement.word_at = word.at;
}

void Parser::link_word(Statement& statement) {
  word_of(statement, link_layers(), "a link");
  script_.link_layer = static_cast<wire::LinkLayer>(*find_value(link_layers(), statement.word));
  if (script_.link_layer == wire::LinkLayer::infiniband) symbols_.on_infiniband();
}

void Parser::word_of(Statement& statement, std::span<const NamedValue> words, const char* purpose) {
  const Token word = tokens_.take(TokenKind::word, (std::string(purpose) + " is expected here").c_str());
  if (!find_value(words, word.text))
    throw ScriptError(word.at, std::string(purpose) + " is one of " + list_words(words) + ", not " +
                                   std::string(word.text));
  statement.word = word.text;
  statement.word_at = word.at;
}

void Parser::arguments(Statement& statement, const KeywordSpec& keyword) {
  if (keyword.arguments.empty() && !keyword.packet_fields) return;
  while (!tokens_.at_line_end()) argument(statement, keyword);
  for (const ArgumentSpec& wanted : keyword.arguments) {
    if (!wanted.required) continue;
    const bool there = std::any_of(statement.arguments.begin(), statement.arguments.end(),
                                   [&](const Argument& each) { return each.name == wanted.name; });
    if (!there)
      throw ScriptError(statement.at, std::string(keyword.word) + " needs " + std::string(wanted.name) + "=");
  }
}

void Parser::argument(Statement& statement, const KeywordSpec& keyword) {
  const Token name = tokens_.take(TokenKind::word, "an argument is expected here, as NAME=VALUE");
  const ArgumentSpec* const known = find_argument(keyword, name.text);
  if (known == nullptr && !(keyword.packet_fields && is_field_(name.text))) {
    std::string list;
    for (const ArgumentSpec& each : keyword.arguments)
      list += (list.empty() ? "" : ", ") + std::string(each.name);
    throw ScriptError(name.at, std::string(keyword.word) + " has no argument " + std::string(name.text) +
                                   ": it has " + list +
                                   (keyword.packet_fields ? " and the fields of packets" : ""));
  }
  if (known != nullptr && known->of_infiniband && script_.link_layer != wire::LinkLayer::infiniband)
    throw ScriptError(
        name.at,
        std::string(name.text) + "= is of a link of InfiniBand: the script's first line is link infiniband");
  for (const Argument& other : statement.arguments)
    if (other.name == name.text && (known == nullptr || !known->may_repeat) && !keyword.compares)
      throw ScriptError(name.at, other.name + " is given twice");
  Argument argument;
  argument.name = name.text;
  argument.at = name.at;
  argument.comparison = comparison(keyword);
  if (argument.comparison == Comparison::bind) {
    bind(argument);
  } else {
    const ValueType type = known != nullptr ? known->type : ValueType::field;
    const auto words = known != nullptr ? known->words : field_words(name.text);
    argument.values.push_back(type == ValueType::object ? expressions_.object(known->kind)
                                                        : expressions_.parse(type, words));
    if (argument.comparison == Comparison::equal && keyword.compares && tokens_.take("..")) {
      argument.comparison = Comparison::within;
      argument.values.push_back(expressions_.parse(type, words));
    }
  }
  statement.arguments.push_back(std::move(argument));
}

Comparison Parser::comparison(const KeywordSpec& keyword) {
  static constexpr std::pair<std::string_view, Comparison> kComparisons[] = {
      {"=", Comparison::equal},    {"!=", Comparison::different}, {"<", Comparison::less},
      {"<=", Comparison::at_most}, {">", Comparison::greater},    {">=", Comparison::at_least},
      {"=?", Comparison::bind},
  };
  for (const auto& [sign, comparison] : kComparisons) {
    if (!tokens_.ahead().is(sign)) continue;
    if (comparison != Comparison::equal && !keyword.compares)
      throw ScriptError(tokens_.ahead().at, "only what is expected is compared: = is all that " +
                                                std::string(keyword.word) + " takes");
    tokens_.take();
    return comparison;
  }
  tokens_.refuse("= is expected here");
}

void Parser::bind(Argument& argument) {
  const Token variable = tokens_.take(TokenKind::word, "the name of a variable is expected here");
  argument.variable = variable.text;
  if (argument.variable.find('.') != std::string::npos) throw ScriptError(variable.at, "a name has no dots");
  if (!symbols_.add_variable(argument.variable))
    throw ScriptError(variable.at, argument.variable + " is the name of something else");
}

void Parser::amount(Statement& statement, const KeywordSpec& keyword) {
  if (keyword.amount == AmountRule::none) return;
  if (keyword.amount == AmountRule::optional && tokens_.at_line_end()) return;
  switch (keyword.keyword) {
    case Keyword::let:
      tokens_.require("=", "= is expected here");
      statement.amount = expressions_.parse(ValueType::number);
      return;
    case Keyword::repeat:
      statement.amount = expressions_.parse(ValueType::number);
      return;
    case Keyword::fill:
    case Keyword::memory:
      return assignment(statement, expressions_.place());
    default:
      statement.amount = expressions_.parse(ValueType::duration);
  }
}

// m[0, 64] = pattern(64)
void Parser::assignment(Statement& statement, Expression target) {
  Argument argument;
  argument.name = "bytes";
  argument.at = tokens_.ahead().at;
  tokens_.require("=", "= is expected here");
  argument.values.push_back(expressions_.parse(ValueType::bytes));
  statement.arguments.push_back(std::move(argument));
  statement.amount = std::move(target);
}

void Parser::repeat(Statement& statement, std::uint32_t nesting) {
  if (nesting == kMostNesting) throw ScriptError(statement.at, "repeat is nested too deeply");
  if (tokens_.take("as")) {
    const Token name = tokens_.take(TokenKind::word, "the name of a variable is expected here");
    statement.object = name.text;
    statement.object_at = name.at;
    if (!symbols_.add_variable(statement.object))
      throw ScriptError(name.at, statement.object + " is the name of something else");
  }
  end_line();
  while (!tokens_.ahead().is("end")) {
    if (tokens_.ahead().kind == TokenKind::end) throw ScriptError(statement.at, "this repeat has no end");
    statement_into(statement.body, nesting + 1);
  }
  tokens_.take();
  end_line();
}

void Parser::name_what_is_made(const Statement& statement, const KeywordSpec& keyword) {
  if (keyword.keyword == Keyword::destroy) return symbols_.remove(statement.object);
  const bool is_new = keyword.makes != ObjectKind::none ? symbols_.add_object(statement.object, keyword.makes)
                      : keyword.keyword == Keyword::let ? symbols_.add_variable(statement.object)
                                                        : true;
  if (!is_new) throw ScriptError(statement.object_at, statement.object + " is the name of something else");
}

// The comment lines at the beginning, without # and one space.
std::string heading_of(std::string_view text) {
  std::string heading;
  while (!text.empty() && text.front() == '#') {
    std::string_view line = text.substr(1, text.find('\n') - 1);
    text.remove_prefix(std::min(text.size(), line.size() + 2));
    if (!line.empty() && line.front() == ' ') line.remove_prefix(1);
    heading += (heading.empty() ? "" : "\n") + std::string(line);
  }
  return heading;
}

}  // namespace

Script parse(std::string_view text, IsField is_field) {
  Script script = Parser(text, is_field).script();
  script.heading = heading_of(text);
  return script;
}

}  // namespace urnic::script
