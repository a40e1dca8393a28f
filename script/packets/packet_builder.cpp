#include "script/packets/packet_builder.hpp"

#include <algorithm>

#include "script/language/vocabulary.hpp"
#include "script/local_route.hpp"
#include "script/packets/packet_fields.hpp"
#include "wire/aeth.hpp"
#include "wire/congestion_notification.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::script {
namespace {

using wire::Operation;

// Of the communication management class (IBTA 16.7.1).
constexpr std::uint8_t kCmVersion = 2;

const Argument* find(const Statement& statement, std::string_view name) {
  const auto found = std::find_if(statement.arguments.begin(), statement.arguments.end(),
                                  [&](const Argument& argument) { return argument.name == name; });
  return found == statement.arguments.end() ? nullptr : &*found;
}

// The opcode that the statement names, by its word or as a field.
wire::Opcode opcode_of(const Statement& statement, const ScriptEnd& end, const Scope& scope) {
  if (!statement.word.empty()) return packet_kind(statement.word, end.service).opcode;
  const Argument* field = find(statement, "bth.opcode");
  if (field == nullptr) field = find(statement, "opcode");
  if (field == nullptr)
    throw ScriptError(statement.at, "send needs a packet, such as write_only, or bth.opcode=");
  return wire::Opcode(static_cast<std::uint8_t>(scope.number(field->values[0])));
}

// How many bytes the packet carries in a right message: First and Middle packets one path MTU, Last ones the
// rest (IBTA 9.4.1); of a SEND, whose rest nobody knows, four.
std::uint32_t right_length(wire::Opcode opcode, const ScriptEnd& end) {
  if (!wire::traits(opcode).known) return 0;
  switch (opcode.operation()) {
    case Operation::send_first:
    case Operation::send_middle:
    case Operation::write_first:
    case Operation::write_middle:
    case Operation::read_response_first:
    case Operation::read_response_middle:
      return end.mtu;
    case Operation::write_last:
    case Operation::write_last_immediate:
      return std::min(end.rest_of_write, end.mtu);
    case Operation::read_response_last:
    case Operation::read_response_only:
      return std::min(end.rest_of_read, end.mtu);
    case Operation::send_last:
    case Operation::send_last_immediate:
    case Operation::send_last_invalidate:
      return 4;
    case Operation::atomic_write:
      return 8;
    default:
      return 0;
  }
}

// A message of the connection manager with nothing but its header, and a transaction of its own.
Bytes cm_message(wire::mad::AttributeId attribute) {
  static std::uint64_t transactions = 0;
  wire::mad::Mad mad{};
  wire::mad::encode({.management_class = wire::mad::ManagementClass::communication,
                     .class_version = kCmVersion,
                     .method = wire::mad::Method::send,
                     .transaction = wire::mad::TransactionId{++transactions},
                     .attribute = attribute},
                    mad);
  return {mad.begin(), mad.end()};
}

Bytes payload_of(const Statement& statement, wire::Opcode opcode, const ScriptEnd& end, const Scope& scope,
                 const Scope::ReadMemory& memory) {
  constexpr std::size_t kMostBytes = 4096;
  Bytes payload;
  if (const Argument* const named = find(statement, "payload")) {
    payload = scope.bytes(named->values[0], memory);
    if (payload.size() > kMostBytes) throw ScriptError(named->at, "a payload has 4096 bytes at most");
    return payload;
  }
  if (!statement.word.empty())
    if (const auto attribute = packet_kind(statement.word, end.service).cm_attribute)
      return cm_message(*attribute);
  if (opcode == wire::kCongestionNotification)
    return {wire::kNotificationPayload.begin(), wire::kNotificationPayload.end()};
  for (std::uint32_t i = 0; i < right_length(opcode, end); ++i) payload.push_back(pattern_byte(i, 0));
  return payload;
}

wire::TransportHeaders right_headers(wire::Opcode opcode, const ScriptEnd& end, const Targets& targets,
                                     std::size_t payload) {
  if (opcode == wire::kCongestionNotification)
    return wire::congestion_notification(wire::Pkey{0xFFFF}, end.device);
  const wire::OpcodeTraits& traits = wire::traits(opcode);
  const bool is_request = traits.request || !traits.known;
  wire::TransportHeaders headers;
  headers.bth.opcode = opcode;
  headers.bth.destination = end.device;
  headers.bth.psn = is_request ? end.next_request : end.next_response;
  // As requesters do it: at the end of each message (IBTA 9.7.2).
  headers.bth.ack_request = traits.request && traits.last && wire::is_acknowledged(opcode.service());
  headers.deth = {.qkey = end.qkey, .reserved = 0, .source = end.own};
  headers.xrceth.srq_number = targets.srq;
  const auto bytes = static_cast<std::uint32_t>(payload);
  headers.reth = {targets.address, wire::Rkey{targets.rkey}, traits.last ? bytes : 2 * end.mtu};
  headers.atomic_eth.virtual_address = targets.address;
  headers.atomic_eth.rkey = wire::Rkey{targets.rkey};
  headers.aeth = {wire::ack_syndrome(wire::kInvalidCreditCode), end.msn};
  return headers;
}

// Fields that a header has only once another field is set, such as those of a message behind its attribute,
// are found when the frame is looked at again.
std::optional<analysis::PlacedField> find_field(analysis::EditedFrame& frame, Bytes& bytes,
                                                wire::LinkLayer link_layer, std::string_view name) {
  if (const auto placed = find_packet_field(analysis::dissect(bytes, link_layer), name)) return placed;
  bytes = frame.finish();
  frame = analysis::EditedFrame(bytes, link_layer);
  return find_packet_field(analysis::dissect(bytes, link_layer), name);
}

// `bytes` is the frame as it was when its headers were looked for last.
void set_field(analysis::EditedFrame& frame, Bytes& bytes, wire::LinkLayer link_layer,
               const Argument& argument, const Scope& scope) {
  const auto placed = find_field(frame, bytes, link_layer, argument.name);
  if (!placed) throw ScriptError(argument.at, "the packet has no field " + argument.name);
  const analysis::Field& field = *placed->field;
  const Expression& value = argument.values[0];
  try {
    if (const std::string* const text = scope.text(value)) return frame.set(field.name, *text);
    if (!analysis::is_number(field.kind))
      throw ScriptError(value.at, argument.name + " is written in quotes, as \"" +
                                      analysis::value_text(field, analysis::read_value(*placed, bytes)) +
                                      '"');
    const std::uint64_t number = scope.number(value);
    frame.set_number(field.name, is_sequence_number(field) ? number & wire::Psn::kMask : number);
  } catch (const analysis::FieldError& error) {
    throw ScriptError(value.at, error.what());
  }
}

}  // namespace

Bytes build_packet(const Statement& statement, ScriptEnd& end, const Targets& targets, const Scope& scope,
                   const Scope::ReadMemory& memory) {
  const wire::LinkLayer link_layer = link_layer_of(end.path);
  const wire::Opcode opcode = opcode_of(statement, end, scope);
  const Bytes payload = payload_of(statement, opcode, end, scope, memory);
  analysis::EditedFrame frame(end.path, right_headers(opcode, end, targets, payload.size()), payload);
  Bytes shape = frame.finish();
  for (const Argument& argument : statement.arguments)
    if (argument.name != "payload") set_field(frame, shape, link_layer, argument, scope);
  const Bytes& bytes = frame.finish();
  end.note_sent(analysis::dissect(bytes, link_layer).transport(), payload.size());
  return bytes;
}

}  // namespace urnic::script
