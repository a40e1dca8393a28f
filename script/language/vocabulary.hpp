// The words of the language: which statements there are, which arguments each takes, and which words stand
// for values there.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "script/language/syntax_tree.hpp"

namespace urnic::script {

// A word that stands for a value in an argument, such as success=0 for a completion's status.
struct NamedValue {
  std::string_view name;
  std::uint64_t value = 0;
};

enum class ValueType : std::uint8_t {
  number,
  bytes,     // pattern(8), hex("01 02"), …
  place,     // bytes of a memory region: m[0, 64]
  duration,  // a span of time
  field,     // of a packet's field: a number, or text as the field is written
  object,    // the name of an object
};

enum class ObjectKind : std::uint8_t {
  none,
  queue_pair,
  region,
  window,
  shared_receive_queue,
  address_handle
};

struct ArgumentSpec {
  std::string_view name;
  ValueType type = ValueType::number;
  std::span<const NamedValue> words = {};
  bool may_repeat = false;
  bool required = false;
  ObjectKind kind = ObjectKind::none;  // of an object
  bool of_infiniband = false;          // only on such a link
};

// What stands behind a keyword.
enum class ObjectRule : std::uint8_t {
  none,
  new_name,
  queue_pair,
  receives,  // a queue pair or a shared receive queue
  any,
};
enum class WordRule : std::uint8_t {
  none,
  packet,     // an opcode; may be missing
  work,       // a work request's opcode
  event,      // an asynchronous event
  link,       // a link layer
  solicited,  // the word solicited; may be missing
};
enum class AmountRule : std::uint8_t { none, required, optional };

struct KeywordSpec {
  std::string_view word;
  Keyword keyword = Keyword::wait;
  ObjectRule object = ObjectRule::none;
  WordRule second = WordRule::none;
  AmountRule amount = AmountRule::none;
  std::span<const ArgumentSpec> arguments = {};
  bool packet_fields = false;  // arguments may also be fields of a packet
  bool compares = false;       // arguments are expectations: also !=, <, <=, >, >=, =? and ranges
  ObjectKind makes = ObjectKind::none;
};

// Null: there is no such statement.
const KeywordSpec* find_keyword(std::string_view word);
const KeywordSpec& spec(Keyword keyword);
// All of them, for messages: "send, expect, …".
std::string keyword_list();

// Null: the statement has no such argument; it may be a field of a packet.
const ArgumentSpec* find_argument(const KeywordSpec& keyword, std::string_view name);

// The words for values of a packet's field, by its name; empty: there are none.
std::span<const NamedValue> field_words(std::string_view field);
std::span<const NamedValue> nak_codes();

// "queue pair"
std::string_view name(ObjectKind kind);

std::span<const NamedValue> work_opcodes();
std::span<const NamedValue> async_events();
// The values are those of wire::LinkLayer.
std::span<const NamedValue> link_layers();
// Packets: their operation, which is the lower five bits of their opcode (wire/opcode.hpp); or, with
// kCmPacket, the attribute of a message of the connection manager; or, with kWholeOpcode, an opcode that is
// the same for all services.
inline constexpr std::uint64_t kCmPacket = 0x100;
inline constexpr std::uint64_t kWholeOpcode = 0x200;
std::span<const NamedValue> packet_operations();

std::optional<std::uint64_t> find_value(std::span<const NamedValue> words, std::string_view name);
// The word for a value; empty: there is none.
std::string_view find_word(std::span<const NamedValue> words, std::uint64_t value);
std::string list_words(std::span<const NamedValue> words);

// The attributes of an object that expressions may name, such as qpn of a queue pair.
std::span<const std::string_view> attributes(ObjectKind kind);
// What it has beside on a link of InfiniBand.
std::span<const std::string_view> infiniband_attributes(ObjectKind kind);

}  // namespace urnic::script
