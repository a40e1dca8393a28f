#include "script/language/vocabulary.hpp"

#include <algorithm>

#include "wire/aeth.hpp"
#include "wire/mad/cm_codes.hpp"
#include "wire/network_headers.hpp"
#include "wire/opcode.hpp"

namespace urnic::script {
namespace {

// The values are those of <infiniband/verbs.h>, where that has any.
constexpr NamedValue kServices[] = {{"gsi", 1},           {"rc", 2},         {"uc", 3}, {"ud", 4},
                                    {"xrc_initiator", 9}, {"xrc_target", 10}};
constexpr NamedValue kStates[] = {{"reset", 0}, {"init", 1}, {"rtr", 2},  {"rts", 3},
                                  {"sqd", 4},   {"sqe", 5},  {"error", 6}};
constexpr NamedValue kAccess[] = {{"none", 0},        {"local_write", 1},   {"remote_write", 2},
                                  {"remote_read", 4}, {"remote_atomic", 8}, {"window_bind", 16},
                                  {"zero_based", 32}, {"all", 15}};
constexpr NamedValue kWork[] = {
    {"write", 0}, {"write_imm", 1},       {"send", 2},         {"send_imm", 3},
    {"read", 4},  {"compare_swap", 5},    {"fetch_add", 6},    {"local_invalidate", 7},
    {"bind", 8},  {"send_invalidate", 9}, {"atomic_write", 15}};
constexpr NamedValue kStatuses[] = {{"success", 0},
                                    {"local_length_error", 1},
                                    {"local_qp_operation_error", 2},
                                    {"local_protection_error", 4},
                                    {"flushed", 5},
                                    {"window_bind_error", 6},
                                    {"bad_response", 7},
                                    {"local_access_error", 8},
                                    {"remote_invalid_request", 9},
                                    {"remote_access_error", 10},
                                    {"remote_operation_error", 11},
                                    {"retry_exceeded", 12},
                                    {"rnr_retry_exceeded", 13}};
constexpr NamedValue kCompletionOpcodes[] = {{"send", 0},
                                             {"write", 1},
                                             {"read", 2},
                                             {"compare_swap", 3},
                                             {"fetch_add", 4},
                                             {"bind", 5},
                                             {"local_invalidate", 6},
                                             {"atomic_write", 9},
                                             {"recv", 128},
                                             {"recv_write_imm", 129}};
constexpr NamedValue kEvents[] = {{"cq_error", 0},
                                  {"qp_fatal", 1},
                                  {"qp_request_error", 2},
                                  {"qp_access_error", 3},
                                  {"communication_established", 4},
                                  {"send_queue_drained", 5},
                                  {"srq_error", 14},
                                  {"srq_limit_reached", 15},
                                  {"last_wqe_reached", 16}};
constexpr NamedValue kRecoveries[] = {{"gbn", 0}, {"selective", 1}, {"irn", 2}, {"sack", 3}};
constexpr NamedValue kCongestionControls[] = {{"off", 0}, {"dcqcn", 1}, {"rtt", 2}, {"timely", 3}};
constexpr NamedValue kPlaces[] = {{"both", 0}, {"virtual", 1}, {"live", 2}};

constexpr auto value_of(wire::LinkLayer layer) { return static_cast<std::uint64_t>(layer); }
constexpr NamedValue kLinkLayers[] = {{"ethernet", value_of(wire::LinkLayer::ethernet)},
                                      {"infiniband", value_of(wire::LinkLayer::infiniband)}};

// Of a path in a subnet.
constexpr ArgumentSpec kServiceLevel{.name = "sl", .of_infiniband = true};
constexpr ArgumentSpec kWithGrh{.name = "grh", .of_infiniband = true};

constexpr ArgumentSpec kOptionArguments[] = {
    {"patience", ValueType::duration},
    {"tolerance", ValueType::duration},
    {"runs", ValueType::number, kPlaces},
};
constexpr ArgumentSpec kQpArguments[] = {
    {"service", ValueType::number, kServices},
    {"state", ValueType::number, kStates},
    {"mtu"},
    {"rq_psn"},
    {"sq_psn"},
    {"timeout"},
    {"retry"},
    {"rnr_retry"},
    {"min_rnr_timer"},
    {"max_reads"},
    {"max_dest_reads"},
    {"access", ValueType::number, kAccess},
    {"qkey"},
    {"recovery", ValueType::number, kRecoveries},
    {"congestion", ValueType::number, kCongestionControls},
    {"peer_qpn"},
    {.name = "srq", .type = ValueType::object, .kind = ObjectKind::shared_receive_queue},
    {"max_send"},
    {"max_recv"},
    {"attach"},
    kServiceLevel,
    kWithGrh,
};
constexpr ArgumentSpec kMrArguments[] = {
    {"length", ValueType::number, {}, false, true},
    {"access", ValueType::number, kAccess},
    {"seed"},
};
constexpr ArgumentSpec kMwArguments[] = {{"type"}};
constexpr ArgumentSpec kAhArguments[] = {kServiceLevel, kWithGrh};
constexpr NamedValue kSrqKinds[] = {{"basic", 0}, {"xrc", 1}};
constexpr ArgumentSpec kSrqArguments[] = {{"kind", ValueType::number, kSrqKinds}, {"max_recv"}};
constexpr ArgumentSpec kPostSendArguments[] = {
    {"wr_id"},
    {"sge", ValueType::place, {}, true},
    {"inline", ValueType::bytes},
    {"signaled"},
    {"solicited"},
    {"fence"},
    {"imm"},
    {"invalidate"},
    {"remote"},
    {"rkey"},
    {"compare"},
    {"swap"},
    {"add"},
    {.name = "ah", .type = ValueType::object, .kind = ObjectKind::address_handle},
    {"qpn"},
    {"qkey"},
    {"srqn"},
    {.name = "window", .type = ValueType::object, .kind = ObjectKind::window},
    {.name = "region", .type = ValueType::object, .kind = ObjectKind::region},
    {"address"},
    {"length"},
    {"access", ValueType::number, kAccess},
    {"new_rkey"},
};
constexpr ArgumentSpec kPostRecvArguments[] = {
    {"wr_id"},
    {"sge", ValueType::place, {}, true},
};
constexpr ArgumentSpec kModifyArguments[] = {
    {"state", ValueType::number, kStates, false, true},
    {"notify"},
    {"min_rnr_timer"},
    {"access", ValueType::number, kAccess},
};
constexpr ArgumentSpec kCompletionArguments[] = {
    {"wr_id"},
    {"status", ValueType::number, kStatuses},
    {"opcode", ValueType::number, kCompletionOpcodes},
    {"bytes"},
    {"imm"},
    {"invalidated"},
    {"source_qpn"},
    {"with_imm"},
    {"with_invalidate"},
    {"with_grh"},
    {.name = "slid", .of_infiniband = true},
    kServiceLevel,
};
// Of packets, beside their fields.
constexpr ArgumentSpec kSentArguments[] = {{"payload", ValueType::bytes}};
constexpr ArgumentSpec kSeenArguments[] = {{"payload", ValueType::bytes}, {"payload_length"}};

using enum ObjectRule;
using Second = WordRule;
using Amount = AmountRule;
constexpr KeywordSpec kKeywords[] = {
    {"link", Keyword::link, none, Second::link},
    {"option", Keyword::option, none, Second::none, Amount::none, kOptionArguments},
    {"let", Keyword::let, new_name, Second::none, Amount::required},
    {"repeat", Keyword::repeat, none, Second::none, Amount::required},
    {"wait", Keyword::wait, none, Second::none, Amount::required},
    {"qp", Keyword::qp, new_name, Second::none, Amount::none, kQpArguments, false, false,
     ObjectKind::queue_pair},
    {"mr", Keyword::mr, new_name, Second::none, Amount::none, kMrArguments, false, false, ObjectKind::region},
    {"mw", Keyword::mw, new_name, Second::none, Amount::none, kMwArguments, false, false, ObjectKind::window},
    {"srq", Keyword::srq, new_name, Second::none, Amount::none, kSrqArguments, false, false,
     ObjectKind::shared_receive_queue},
    {"ah", Keyword::ah, new_name, Second::none, Amount::none, kAhArguments, false, false,
     ObjectKind::address_handle},
    {"send", Keyword::send, queue_pair, Second::packet, Amount::none, kSentArguments, true},
    {"expect", Keyword::expect, queue_pair, Second::packet, Amount::none, kSeenArguments, true, true},
    {"ignore", Keyword::ignore, queue_pair, Second::packet, Amount::none, kSeenArguments, true, true},
    {"quiet", Keyword::quiet, queue_pair, Second::none, Amount::required},
    {"post_send", Keyword::post_send, queue_pair, Second::work, Amount::none, kPostSendArguments},
    {"post_recv", Keyword::post_recv, receives, Second::none, Amount::none, kPostRecvArguments},
    {"modify", Keyword::modify, queue_pair, Second::none, Amount::none, kModifyArguments},
    {"destroy", Keyword::destroy, any},
    {"arm", Keyword::arm, queue_pair, Second::solicited},
    {"send_completion", Keyword::send_completion, queue_pair, Second::none, Amount::none,
     kCompletionArguments, false, true},
    {"recv_completion", Keyword::recv_completion, receives, Second::none, Amount::none, kCompletionArguments,
     false, true},
    {"no_completion", Keyword::no_completion, receives, Second::none, Amount::optional},
    {"event", Keyword::event, receives, Second::event},
    {"notified", Keyword::notified, queue_pair},
    {"not_notified", Keyword::not_notified, queue_pair, Second::none, Amount::optional},
    {"fill", Keyword::fill, none, Second::none, Amount::required},
    {"memory", Keyword::memory, none, Second::none, Amount::required},
};

constexpr auto value_of(wire::Operation operation) { return static_cast<std::uint64_t>(operation); }
using Op = wire::Operation;
using Cm = wire::mad::CmAttribute;
constexpr auto value_of(Cm attribute) { return kCmPacket | static_cast<std::uint64_t>(attribute); }
constexpr NamedValue kOperations[] = {
    {"send_first", value_of(Op::send_first)},
    {"send_middle", value_of(Op::send_middle)},
    {"send_last", value_of(Op::send_last)},
    {"send_last_imm", value_of(Op::send_last_immediate)},
    {"send_only", value_of(Op::send_only)},
    {"send_only_imm", value_of(Op::send_only_immediate)},
    {"write_first", value_of(Op::write_first)},
    {"write_middle", value_of(Op::write_middle)},
    {"write_last", value_of(Op::write_last)},
    {"write_last_imm", value_of(Op::write_last_immediate)},
    {"write_only", value_of(Op::write_only)},
    {"write_only_imm", value_of(Op::write_only_immediate)},
    {"read_request", value_of(Op::read_request)},
    {"read_response_first", value_of(Op::read_response_first)},
    {"read_response_middle", value_of(Op::read_response_middle)},
    {"read_response_last", value_of(Op::read_response_last)},
    {"read_response_only", value_of(Op::read_response_only)},
    {"ack", value_of(Op::acknowledge)},
    {"atomic_ack", value_of(Op::atomic_acknowledge)},
    {"compare_swap", value_of(Op::compare_swap)},
    {"fetch_add", value_of(Op::fetch_add)},
    {"send_last_invalidate", value_of(Op::send_last_invalidate)},
    {"send_only_invalidate", value_of(Op::send_only_invalidate)},
    {"atomic_write", value_of(Op::atomic_write)},
    {"cnp", kWholeOpcode | wire::kCongestionNotification.value},
    {"cm_req", value_of(Cm::req)},
    {"cm_mra", value_of(Cm::mra)},
    {"cm_rej", value_of(Cm::rej)},
    {"cm_rep", value_of(Cm::rep)},
    {"cm_rtu", value_of(Cm::rtu)},
    {"cm_dreq", value_of(Cm::dreq)},
    {"cm_drep", value_of(Cm::drep)},
    {"cm_sidr_req", value_of(Cm::sidr_req)},
    {"cm_sidr_rep", value_of(Cm::sidr_rep)},
};

constexpr auto value_of(wire::NakCode code) { return static_cast<std::uint64_t>(code); }
constexpr NamedValue kNakCodes[] = {
    {"psn_sequence", value_of(wire::NakCode::psn_sequence_error)},
    {"invalid_request", value_of(wire::NakCode::invalid_request)},
    {"remote_access", value_of(wire::NakCode::remote_access_error)},
    {"remote_operational", value_of(wire::NakCode::remote_operational_error)},
};
constexpr auto value_of(wire::AethKind kind) { return static_cast<std::uint64_t>(kind); }
constexpr NamedValue kAethKinds[] = {
    {"ack", value_of(wire::AethKind::ack)},
    {"rnr_nak", value_of(wire::AethKind::rnr_nak)},
    {"nak", value_of(wire::AethKind::nak)},
};

constexpr std::string_view kQueuePairAttributes[] = {"qpn", "peer_qpn", "rq_psn", "sq_psn", "next_psn"};
// Of queue pairs.
constexpr std::string_view kAddressAttributes[] = {"lid", "peer_lid", "gid", "peer_gid"};
constexpr std::string_view kRegionAttributes[] = {"addr", "length", "lkey", "rkey"};
constexpr std::string_view kWindowAttributes[] = {"rkey"};
constexpr std::string_view kSharedReceiveAttributes[] = {"number"};

}  // namespace

const KeywordSpec* find_keyword(std::string_view word) {
  const auto* const found = std::find_if(std::begin(kKeywords), std::end(kKeywords),
                                         [&](const auto& each) { return each.word == word; });
  return found == std::end(kKeywords) ? nullptr : found;
}

const KeywordSpec& spec(Keyword keyword) {
  return *std::find_if(std::begin(kKeywords), std::end(kKeywords),
                       [&](const auto& each) { return each.keyword == keyword; });
}

std::string keyword_list() {
  std::string list;
  for (const KeywordSpec& each : kKeywords) list += (list.empty() ? "" : ", ") + std::string(each.word);
  return list;
}

const ArgumentSpec* find_argument(const KeywordSpec& keyword, std::string_view name) {
  const auto found = std::find_if(keyword.arguments.begin(), keyword.arguments.end(),
                                  [&](const auto& each) { return each.name == name; });
  return found == keyword.arguments.end() ? nullptr : &*found;
}

std::span<const NamedValue> field_words(std::string_view field) {
  if (field == "aeth.kind" || field == "kind") return kAethKinds;
  if (field == "aeth.code" || field == "code") return kNakCodes;
  return {};
}
std::span<const NamedValue> nak_codes() { return kNakCodes; }

std::string_view name(ObjectKind kind) {
  constexpr std::string_view kNames[] = {"object",        "queue pair",           "memory region",
                                         "memory window", "shared receive queue", "address handle"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::span<const NamedValue> work_opcodes() { return kWork; }
std::span<const NamedValue> async_events() { return kEvents; }
std::span<const NamedValue> link_layers() { return kLinkLayers; }
std::span<const NamedValue> packet_operations() { return kOperations; }

std::optional<std::uint64_t> find_value(std::span<const NamedValue> words, std::string_view name) {
  for (const NamedValue& word : words)
    if (word.name == name) return word.value;
  return {};
}

std::string_view find_word(std::span<const NamedValue> words, std::uint64_t value) {
  for (const NamedValue& word : words)
    if (word.value == value) return word.name;
  return {};
}

std::string list_words(std::span<const NamedValue> words) {
  std::string list;
  for (const NamedValue& word : words) list += (list.empty() ? "" : ", ") + std::string(word.name);
  return list;
}

std::span<const std::string_view> infiniband_attributes(ObjectKind kind) {
  if (kind == ObjectKind::queue_pair) return kAddressAttributes;
  return {};
}

std::span<const std::string_view> attributes(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::queue_pair:
      return kQueuePairAttributes;
    case ObjectKind::region:
      return kRegionAttributes;
    case ObjectKind::window:
      return kWindowAttributes;
    case ObjectKind::shared_receive_queue:
      return kSharedReceiveAttributes;
    case ObjectKind::address_handle:
    case ObjectKind::none:
      break;
  }
  return {};
}

}  // namespace urnic::script
