// The statements about the program that uses the device: objects, work requests, completions, events, memory.
#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>

#include "script/language/vocabulary.hpp"
#include "script/local_route.hpp"
#include "script/run/runner.hpp"

namespace urnic::script {
namespace {

struct Default {
  std::string_view name;
  std::uint64_t value;
};

constexpr std::uint64_t kRts = 3;
constexpr std::uint64_t kAllAccess = 15;
constexpr std::uint64_t kGoBackN = 0;
// Queue pair 1, for general services (IBTA 13.5.1), which every device has; and its Q_Key (IBTA 10.2.5).
constexpr std::uint64_t kGsi = 1;
constexpr std::uint64_t kGsiQpn = 1;
constexpr std::uint64_t kGsiQkey = 0x80010000;
// What a queue pair has that a statement does not say. The first PSNs differ, so that the two directions are
// told apart in a ladder.
constexpr Default kQueuePairDefaults[] = {
    {"service", 2},        {"state", kRts},   {"mtu", 1024},          {"rq_psn", 100},
    {"sq_psn", 500},       {"timeout", 18},   {"retry", 7},           {"rnr_retry", 7},
    {"min_rnr_timer", 12}, {"max_reads", 16}, {"max_dest_reads", 16}, {"access", kAllAccess},
    {"qkey", 0x11},
};

wire::Service wire_service(std::uint64_t type) {
  switch (type) {
    case 3:
      return wire::Service::uc;
    case kGsi:
    case 4:
      return wire::Service::ud;
    case 9:
    case 10:
      return wire::Service::xrc;
    default:
      return wire::Service::rc;
  }
}

// As GIDs are written in scripts, which is as IPv6 addresses are.
std::string text_of(const wire::Gid& gid) {
  char text[INET6_ADDRSTRLEN];
  inet_ntop(AF_INET6, gid.bytes.data(), text, sizeof text);
  return text;
}

std::string value_text(const ArgumentSpec& argument, std::uint64_t value) {
  const std::string_view word = find_word(argument.words, value);
  return word.empty() ? std::to_string(value) : fmt::format("{} ({})", value, word);
}

}  // namespace

// The statement as a call, with its values.
Call Runner::call_of(const Statement& statement) const {
  const KeywordSpec& keyword = spec(statement.keyword);
  Call call;
  call.verb = statement.keyword;
  call.object = statement.object;
  if (keyword.second == WordRule::work) call.opcode = *find_value(work_opcodes(), statement.word);
  if (keyword.second == WordRule::solicited) call.opcode = statement.word.empty() ? 0 : 1;
  for (const Argument& argument : statement.arguments) {
    const ArgumentSpec& known = *find_argument(keyword, argument.name);
    const Expression& value = argument.values[0];
    switch (known.type) {
      case ValueType::place:
        call.places.push_back(scope_.place(value));
        break;
      case ValueType::object:
        call.names[argument.name] = value.name;
        break;
      case ValueType::bytes:
        call.bytes = scope_.bytes(value, memory_reader());
        call.numbers[argument.name] = call.bytes.size();
        break;
      default:
        call.numbers[argument.name] = scope_.number(value);
    }
  }
  return call;
}

Answer Runner::checked(const Statement& statement, const Answer& answer) const {
  if (!answer.refusal.empty())
    throw Mismatch{{statement.at,
                    fmt::format("{} was refused: {}", spec(statement.keyword).word, answer.refusal),
                    std::string(spec(statement.keyword).word), "done", answer.refusal}};
  return answer;
}

void Runner::make(const Statement& statement) {
  Call call = call_of(statement);
  if (statement.keyword == Keyword::mr && !call.has("access")) call.numbers["access"] = kAllAccess;
  const Answer answer = checked(statement, host_.call(call));
  for (const auto& [name, value] : answer.numbers) scope_.set(statement.object + '.' + name, value);
  if (statement.keyword == Keyword::mr) {
    if (!has_region_) {
      targets_.address = answer.numbers.at("addr");
      targets_.rkey = static_cast<std::uint32_t>(answer.numbers.at("rkey"));
      has_region_ = true;
    }
    if (call.has("seed")) {
      Call content;
      content.verb = Keyword::fill;
      content.object = statement.object;
      content.places.push_back({statement.object, 0, call.number("length")});
      for (std::uint64_t i = 0; i < call.number("length"); ++i)
        content.bytes.push_back(pattern_byte(i, call.number("seed")));
      checked(statement, host_.call(content));
    }
  }
  if (statement.keyword == Keyword::srq && !has_srq_) {
    targets_.srq = static_cast<std::uint32_t>(answer.numbers.at("number"));
    has_srq_ = true;
  }
}

void Runner::make_queue_pair(const Statement& statement) {
  Call call = call_of(statement);
  if (call.number("service") == kGsi) {
    call.numbers.try_emplace("qkey", kGsiQkey);
    call.numbers.try_emplace("attach", kGsiQpn);
    call.numbers.try_emplace("peer_qpn", kGsiQpn);
  }
  for (const Default& each : kQueuePairDefaults) call.numbers.try_emplace(std::string(each.name), each.value);
  // Another program's queue pair keeps what it has.
  if (!call.has("attach")) call.numbers.try_emplace("recovery", kGoBackN);
  call.numbers.try_emplace("peer_qpn", next_qpn_++);
  const Answer answer = checked(statement, host_.call(call));
  add_end(statement, call, answer.numbers.at("qpn"));
}

void Runner::add_end(const Statement& statement, const Call& call, std::uint64_t qpn) {
  ScriptEnd& end = ends_[statement.object];
  end.name = statement.object;
  end.service = wire_service(call.number("service"));
  end.own = wire::Qpn{static_cast<std::uint32_t>(call.number("peer_qpn"))};
  end.device = wire::Qpn{static_cast<std::uint32_t>(qpn)};
  end.mtu = static_cast<std::uint32_t>(call.number("mtu"));
  end.qkey = static_cast<std::uint32_t>(call.number("qkey"));
  end.path = path_for(call);
  end.next_request = wire::Psn(static_cast<std::uint32_t>(call.number("rq_psn")));
  end.awaited = wire::Psn(static_cast<std::uint32_t>(call.number("sq_psn")));
  scope_.set(statement.object + ".qpn", qpn);
  for (const char* const name : {"peer_qpn", "rq_psn", "sq_psn"})
    scope_.set(statement.object + '.' + name, call.number(name));
  scope_.set(statement.object + ".next_psn", end.next_request.value());
  if (!end.path.local) return;
  scope_.set(statement.object + ".lid", end.path.local->destination.value);
  scope_.set(statement.object + ".peer_lid", end.path.local->source.value);
  scope_.set_text(statement.object + ".gid", text_of(end.path.destination));
  scope_.set_text(statement.object + ".peer_gid", text_of(end.path.source));
}

wire::NetworkHeaders Runner::path_for(const Call& call) const {
  wire::NetworkHeaders path = host_.path_to_device();
  set_local_route(call, path);
  return path;
}

void Runner::make_call(const Statement& statement) {
  checked(statement, host_.call(call_of(statement)));
  take_frames();
}

// Repeats a poll until it returns something, which is an error if its time has passed.
Answer Runner::wait_for(const Statement& statement, const Call& call, const char* what) {
  const Window window = window_of(statement);
  const Time deadline = window.given_up;
  for (;;) {
    Answer answer = checked(statement, host_.call(call));
    if (!answer.nothing) {
      happened(statement, window, host_.now());
      return answer;
    }
    const bool more = host_.step(deadline);
    take_frames();
    if (more) continue;
    throw Mismatch{{statement.at, fmt::format("no {} came within {}", what, span_text(deadline - last_)),
                    what, fmt::format("one {}", what), "none"}};
  }
}

void Runner::completion(const Statement& statement) {
  Call call;
  call.verb = statement.keyword;
  call.object = statement.object;
  const Answer answer = wait_for(statement, call, "completion");
  for (const Argument& argument : statement.arguments) {
    const ArgumentSpec& known = *find_argument(spec(statement.keyword), argument.name);
    const auto found = answer.numbers.find(argument.name);
    if (found == answer.numbers.end())
      throw Mismatch{
          {argument.at, fmt::format("the completion has no {}", argument.name), argument.name,
           argument.values.empty() ? "a value" : value_text(known, scope_.number(argument.values[0])),
           "none"}};
    if (argument.comparison == Comparison::bind) {
      scope_.set(argument.variable, found->second);
      continue;
    }
    if (!compare_number(argument, found->second, scope_)) continue;
    const bool is_one = argument.comparison == Comparison::equal;
    const std::string expected = is_one ? value_text(known, scope_.number(argument.values[0]))
                                        : *compare_number(argument, found->second, scope_);
    const std::string seen = value_text(known, found->second);
    throw differs(argument.at, argument.name, expected, seen);
  }
}

void Runner::no_completion(const Statement& statement) {
  if (statement.amount) pass_time(host_.now() + scope_.span(*statement.amount));
  for (const Keyword verb : {Keyword::send_completion, Keyword::recv_completion}) {
    const bool is_queue_pair = ends_.contains(statement.object);
    if (verb == Keyword::send_completion && !is_queue_pair) continue;
    Call call;
    call.verb = verb;
    call.object = statement.object;
    const Answer answer = checked(statement, host_.call(call));
    if (answer.nothing) continue;
    const std::string seen = fmt::format(
        "a completion with wr_id {} and status {}", answer.numbers.at("wr_id"),
        value_text(*find_argument(spec(Keyword::send_completion), "status"), answer.numbers.at("status")));
    throw Mismatch{{statement.at, seen + " came, where none was expected", "completion", "none", seen}};
  }
}

void Runner::event(const Statement& statement) {
  Call call;
  call.verb = Keyword::event;
  call.object = statement.object;
  const Answer answer = wait_for(statement, call, "event");
  const std::uint64_t seen = answer.numbers.at("event");
  const std::string_view word = find_word(async_events(), seen);
  if (word == statement.word) return;
  const std::string name = word.empty() ? fmt::format("event {}", seen) : std::string(word);
  throw differs(statement.word_at, "event", statement.word, name);
}

void Runner::notified(const Statement& statement) {
  Call call;
  call.verb = Keyword::notified;
  call.object = statement.object;
  wait_for(statement, call, "completion event");
}

void Runner::not_notified(const Statement& statement) {
  if (statement.amount) pass_time(host_.now() + scope_.span(*statement.amount));
  Call call;
  call.verb = Keyword::notified;
  call.object = statement.object;
  if (checked(statement, host_.call(call)).nothing) return;
  throw Mismatch{
      {statement.at, "a completion event came, where none was expected", "completion event", "none", "one"}};
}

void Runner::fill(const Statement& statement) {
  Call call;
  call.verb = Keyword::fill;
  call.places.push_back(scope_.place(*statement.amount));
  call.object = call.places[0].region;
  call.bytes = scope_.bytes(statement.arguments[0].values[0], memory_reader());
  if (call.bytes.size() != call.places[0].length)
    throw ScriptError(statement.arguments[0].at, fmt::format("the place has {} bytes, and these are {}",
                                                             call.places[0].length, call.bytes.size()));
  checked(statement, host_.call(call));
}

void Runner::memory(const Statement& statement) {
  const Place place = scope_.place(*statement.amount);
  const Bytes seen = memory_reader()(place);
  const Bytes expected = scope_.bytes(statement.arguments[0].values[0], memory_reader());
  if (expected.size() != place.length)
    throw ScriptError(statement.arguments[0].at,
                      fmt::format("the place has {} bytes, and these are {}", place.length, expected.size()));
  const auto differ = std::mismatch(expected.begin(), expected.end(), seen.begin(), seen.end());
  if (differ.first == expected.end()) return;
  const auto offset = place.offset + static_cast<std::uint64_t>(differ.first - expected.begin());
  const std::string field = fmt::format("{}[{}, 1]", place.region, offset);
  const std::string wanted = fmt::format("0x{:02x}", std::to_integer<unsigned>(*differ.first));
  const std::string is = fmt::format("0x{:02x}", std::to_integer<unsigned>(*differ.second));
  throw differs(statement.at, field, wanted, is);
}

}  // namespace urnic::script
