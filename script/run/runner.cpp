#include "script/run/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "script/language/vocabulary.hpp"
#include "script/local_route.hpp"

namespace urnic::script {
namespace {

constexpr std::uint64_t kMostRounds = 100'000;

// Has an effect when it is executed; the others wait for what the device does.
bool acts(Keyword keyword) {
  switch (keyword) {
    case Keyword::expect:
    case Keyword::send_completion:
    case Keyword::recv_completion:
    case Keyword::event:
    case Keyword::notified:
      return false;
    default:
      return true;
  }
}

}  // namespace

Runner::Runner(const Script& script, Host& host, const RunSettings& settings)
    : script_(script),
      host_(host),
      link_layer_(link_layer_of(host.path_to_device())),
      settings_(settings),
      next_qpn_(host.first_qpn()) {
  for (const auto& [name, value] : settings.values) scope_.fix(name, value);
}

Runner::Mismatch Runner::differs(Position at, const std::string& field, const std::string& expected,
                                 const std::string& seen) {
  return {{at, fmt::format("{}: expected {}, seen {}", field, expected, seen), field, expected, seen}};
}

Outcome Runner::run() {
  start_ = last_ = host_.now();
  try {
    check_link();
    run_all(script_.statements);
    flush();
    check_nothing_is_left();
  } catch (const Mismatch& mismatch) {
    outcome_.failure = mismatch.failure;
  } catch (const LeftOut& left_out) {
    outcome_.left_out = left_out.why;
  } catch (const ScriptError& error) {
    outcome_.failure = Failure{error.at(), error.what(), {}, {}, {}};
  }
  outcome_.ladder = log_.ladder(start_);
  outcome_.packets_sent = log_.sent_count();
  outcome_.packets_seen = log_.seen_count();
  outcome_.seconds = std::chrono::duration<double>(host_.now() - start_).count();
  return outcome_;
}

void Runner::run_all(const std::vector<Statement>& statements) {
  for (const Statement& statement : statements) execute(statement);
}

// Packets that are sent by statements that follow each other leave together.
void Runner::execute(const Statement& statement) {
  if (statement.keyword != Keyword::send || statement.when) {
    const bool sent = flush();
    if (sent && acts(statement.keyword)) host_.settle();
  }
  ++outcome_.statements;
  if (statement.when && acts(statement.keyword)) pass_time(window_of(statement).earliest);
  if (settings_.on_statement) settings_.on_statement(statement, host_.now() - start_);
  carry_out(statement);
  if (acts(statement.keyword)) last_ = host_.now();
}

void Runner::carry_out(const Statement& statement) {
  switch (statement.keyword) {
    case Keyword::link:
      return;  // the host has it already
    case Keyword::option:
      return set_options(statement);
    case Keyword::let:
      return let(statement);
    case Keyword::repeat:
      return repeat(statement);
    case Keyword::wait:
      return pass_time(host_.now() + scope_.span(*statement.amount));
    case Keyword::qp:
      return make_queue_pair(statement);
    case Keyword::mr:
    case Keyword::mw:
    case Keyword::srq:
    case Keyword::ah:
      return make(statement);
    case Keyword::send:
      return send(statement);
    case Keyword::expect:
      return expect(statement);
    case Keyword::ignore:
      return ignore(statement);
    case Keyword::quiet:
      return quiet(statement);
    case Keyword::post_send:
    case Keyword::post_recv:
    case Keyword::modify:
    case Keyword::destroy:
    case Keyword::arm:
      return make_call(statement);
    case Keyword::send_completion:
    case Keyword::recv_completion:
      return completion(statement);
    case Keyword::no_completion:
      return no_completion(statement);
    case Keyword::event:
      return event(statement);
    case Keyword::notified:
      return notified(statement);
    case Keyword::not_notified:
      return not_notified(statement);
    case Keyword::fill:
      return fill(statement);
    case Keyword::memory:
      return memory(statement);
  }
}

void Runner::check_link() const {
  if (script_.link_layer == link_layer_) return;
  const auto word = [](wire::LinkLayer layer) {
    return find_word(link_layers(), static_cast<std::uint64_t>(layer));
  };
  throw LeftOut{
      fmt::format("its link is {}, and that of this run is {}", word(script_.link_layer), word(link_layer_))};
}

void Runner::set_options(const Statement& statement) {
  for (const Argument& argument : statement.arguments) {
    if (argument.name == "patience") settings_.patience = scope_.span(argument.values[0]);
    if (argument.name == "tolerance" && !host_.is_virtual())
      settings_.tolerance = scope_.span(argument.values[0]);
    if (argument.name != "runs") continue;
    const std::uint64_t where = scope_.number(argument.values[0]);
    constexpr std::uint64_t kBoth = 0, kVirtual = 1;
    if (where != kBoth && (where == kVirtual) != host_.is_virtual())
      throw LeftOut{where == kVirtual ? "it runs in virtual time only" : "it runs live only"};
  }
}

void Runner::let(const Statement& statement) {
  if (!scope_.is_fixed(statement.object)) scope_.set(statement.object, scope_.number(*statement.amount));
}

void Runner::repeat(const Statement& statement) {
  const std::uint64_t count = scope_.number(*statement.amount);
  for (std::uint64_t round = 0; round < count; ++round) {
    if (outcome_.statements > kMostRounds)
      throw ScriptError(statement.at, "a script executes 100000 statements at most");
    ++outcome_.statements;
    if (!statement.object.empty()) scope_.set(statement.object, round);
    run_all(statement.body);
  }
}

Runner::Window Runner::window_of(const Statement& statement) const {
  const Time patient = host_.now() + settings_.patience;
  if (!statement.when) return {host_.now(), patient, patient, false};
  const When& when = *statement.when;
  const Time from = when.from_start ? start_ : last_;
  Window window;
  window.timed = true;
  window.earliest = from + scope_.span(when.earliest);
  window.latest = when.latest ? from + scope_.span(*when.latest) : window.earliest;
  window.given_up = std::max(window.latest + settings_.tolerance, window.latest + settings_.patience);
  return window;
}

void Runner::pass_time(Time until) {
  while (host_.step(until)) take_frames();
  take_frames();
}

// A live clock is read later than what it times: so an interval may look longer, and one that begins with
// something seen late may look a little shorter.
void Runner::happened(const Statement& statement, const Window& window, Time at) {
  if (window.timed) {
    const Nanoseconds early = std::min(settings_.tolerance, (window.earliest - last_) / 4);
    const bool is_early = at < window.earliest - early;
    if (is_early || at > window.latest + settings_.tolerance) {
      const Time from = statement.when->from_start ? start_ : last_;
      const std::string expected =
          window.latest == window.earliest
              ? span_text(window.earliest - from)
              : span_text(window.earliest - from) + " to " + span_text(window.latest - from);
      throw Mismatch{
          {statement.when->at,
           fmt::format("it came {} after {}, not {}", span_text(at - from),
                       statement.when->from_start ? "the start" : "the statement before", expected),
           "time", expected, span_text(at - from)}};
    }
  }
  last_ = at;
}

// Whole spans as they are written in scripts, others with three digits behind the point.
std::string Runner::span_text(Nanoseconds span) const {
  struct Unit {
    std::int64_t nanoseconds;
    const char* name;
  };
  const std::int64_t count = span.count();
  for (const Unit& unit : {Unit{1'000'000'000, "s"}, Unit{1'000'000, "ms"}, Unit{1'000, "us"}}) {
    if (std::abs(count) < unit.nanoseconds) continue;
    if (count % unit.nanoseconds == 0) return fmt::format("{} {}", count / unit.nanoseconds, unit.name);
    return fmt::format("{:.3f} {}", static_cast<double>(count) / static_cast<double>(unit.nanoseconds),
                       unit.name);
  }
  return fmt::format("{} ns", count);
}

Scope::ReadMemory Runner::memory_reader() const {
  return [this](const Place& place) {
    Call call;
    call.verb = Keyword::memory;
    call.object = place.region;
    call.places.push_back(place);
    return host_.call(call).bytes;
  };
}

}  // namespace urnic::script
