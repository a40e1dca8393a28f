// A script as the parser leaves it: statements with their arguments, each with its place in the text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "script/language/script_error.hpp"
#include "wire/network_headers.hpp"

namespace urnic::script {

struct Expression {
  enum class Kind : std::uint8_t {
    number,    // `value`
    duration,  // `value` is nanoseconds
    text,      // `name`
    name,      // a variable, an attribute of an object (a.qpn), or a word of an argument (success)
    place,     // name[offset, length]: bytes of a memory region
    call,      // name(operands): bytes, or a syndrome
    unary,     // `name` is - or ~
    binary,    // `name` is the sign between the two operands
  };
  Kind kind = Kind::number;
  Position at;
  std::uint64_t value = 0;
  std::string name;
  std::vector<Expression> operands;
};

enum class Comparison : std::uint8_t {
  equal,
  different,
  less,
  at_most,
  greater,
  at_least,
  within,  // from values[0] to values[1], with both
  bind,    // any value, which `variable` is from then on
};

// NAME=VALUE, or another comparison of what is expected.
struct Argument {
  std::string name;
  Position at;
  Comparison comparison = Comparison::equal;
  std::vector<Expression> values;
  std::string variable;
};

// When a statement happens, or what it expects: counted from the statement before, or from the script's
// start.
struct When {
  Position at;
  bool from_start = false;
  Expression earliest;
  std::optional<Expression> latest;  // a range; else exactly `earliest`
};

enum class Keyword : std::uint8_t {
  link,
  option,
  let,
  repeat,
  wait,
  // Objects of the program that is the device's user.
  qp,
  mr,
  mw,
  srq,
  ah,
  // Packets.
  send,
  expect,
  ignore,
  quiet,
  // Verbs.
  post_send,
  post_recv,
  modify,
  destroy,
  arm,
  send_completion,
  recv_completion,
  no_completion,
  event,
  notified,
  not_notified,
  fill,
  memory,
};

struct Statement {
  Position at;
  Keyword keyword = Keyword::wait;
  std::optional<When> when;
  std::string object;  // the name of what is made, or of what the statement is about
  Position object_at;
  std::string word;  // an opcode, a state, an event: what the keyword asks for
  Position word_at;
  std::vector<Argument> arguments;
  std::optional<Expression> amount;  // a span of time, a count, a value, or a place in memory
  std::vector<Statement> body;       // of `repeat`
};

struct Script {
  std::string heading;  // the comment at its beginning, without the signs
  wire::LinkLayer link_layer = wire::LinkLayer::ethernet;
  std::vector<Statement> statements;
};

}  // namespace urnic::script
