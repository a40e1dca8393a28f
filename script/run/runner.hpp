// Runs a script on a host, statement by statement, and compares what comes with what it expects.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "script/host.hpp"
#include "script/language/syntax_tree.hpp"
#include "script/packets/packet_builder.hpp"
#include "script/packets/packet_match.hpp"
#include "script/packets/script_end.hpp"
#include "script/run/outcome.hpp"
#include "script/run/packet_log.hpp"
#include "script/values/scope.hpp"

namespace urnic::script {

struct RunSettings {
  Nanoseconds patience{2'000'000'000};          // how long what is expected at no certain time may take
  Nanoseconds tolerance{0};                     // how much later than its time what is expected may come
  std::map<std::string, std::uint64_t> values;  // of `let` variables, in the place of the script's own
  // Called for each statement that is executed, with the time since the start; may be empty.
  std::function<void(const Statement&, Nanoseconds)> on_statement;
};

class Runner {
 public:
  // Both outlive it.
  Runner(const Script& script, Host& host, const RunSettings& settings);

  Outcome run();

 private:
  // Ends the run.
  struct Mismatch {
    Failure failure;
  };
  // "bth.psn: expected 5, seen 6"
  static Mismatch differs(Position at, const std::string& field, const std::string& expected,
                          const std::string& seen);
  // The script says that it does not run on such a host.
  struct LeftOut {
    std::string why;
  };
  // When a statement's event may happen.
  struct Window {
    Time earliest{};
    Time latest{};
    Time given_up{};  // it is waited for until then: what comes late is shown
    bool timed = false;
  };

  void run_all(const std::vector<Statement>& statements);
  void execute(const Statement& statement);
  void carry_out(const Statement& statement);
  void check_link() const;
  void set_options(const Statement& statement);
  void let(const Statement& statement);
  void repeat(const Statement& statement);

  // runner_packets.cpp
  void send(const Statement& statement);
  // Sends what `send` statements have left; false: nothing.
  bool flush();
  void expect(const Statement& statement);
  void ignore(const Statement& statement);
  void quiet(const Statement& statement);
  analysis::Dissection dissect(const SeenFrame& frame) const {
    return analysis::dissect(frame.bytes, link_layer_);
  }
  void take_frames();
  void take_frame(SeenFrame frame);
  bool is_ignored(const ScriptEnd& end, const analysis::Dissection& packet) const;
  void check_frame(const Statement& statement, const SeenFrame& frame) const;
  void check_nothing_is_left();

  // runner_verbs.cpp
  void make(const Statement& statement);
  void make_queue_pair(const Statement& statement);
  void add_end(const Statement& statement, const Call& call, std::uint64_t qpn);
  wire::NetworkHeaders path_for(const Call& call) const;
  void make_call(const Statement& statement);
  void completion(const Statement& statement);
  void no_completion(const Statement& statement);
  void event(const Statement& statement);
  void notified(const Statement& statement);
  void not_notified(const Statement& statement);
  void fill(const Statement& statement);
  void memory(const Statement& statement);
  Call call_of(const Statement& statement) const;
  Answer checked(const Statement& statement, const Answer& answer) const;
  Answer wait_for(const Statement& statement, const Call& call, const char* what);

  Window window_of(const Statement& statement) const;
  // Lets time pass until `until`, and keeps the frames that come.
  void pass_time(Time until);
  // An expected event has happened at `at`: checks that against the window, and makes it the time of the
  // statement.
  void happened(const Statement& statement, const Window& window, Time at);
  std::string span_text(Nanoseconds span) const;
  ScriptEnd& end_of(const Statement& statement) { return ends_.at(statement.object); }
  Scope::ReadMemory memory_reader() const;

  const Script& script_;
  Host& host_;
  const wire::LinkLayer link_layer_;  // the host's
  RunSettings settings_;
  Scope scope_;
  std::map<std::string, ScriptEnd> ends_;
  Targets targets_;
  bool has_region_ = false;
  bool has_srq_ = false;
  std::uint32_t next_qpn_;
  std::vector<Bytes> unsent_;
  PacketLog log_{link_layer_};
  std::vector<SeenFrame> strays_;  // to no queue pair of the script
  Time start_{};
  Time last_{};  // of the statement before
  Outcome outcome_;
};

}  // namespace urnic::script
