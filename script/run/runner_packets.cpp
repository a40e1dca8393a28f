// The statements about packets.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analysis/dissection/frame_text.hpp"
#include "script/run/runner.hpp"

namespace urnic::script {

void Runner::send(const Statement& statement) {
  unsent_.push_back(build_packet(statement, end_of(statement), targets_, scope_, memory_reader()));
}

bool Runner::flush() {
  if (unsent_.empty()) return false;
  for (const Bytes& frame : unsent_) log_.sent(frame, host_.now());
  const std::vector<Bytes> frames = std::exchange(unsent_, {});
  host_.send(frames);
  last_ = host_.now();
  take_frames();
  return true;
}

void Runner::take_frames() {
  while (auto frame = host_.receive()) take_frame(std::move(*frame));
}

void Runner::take_frame(SeenFrame frame) {
  log_.seen(frame);
  const analysis::Dissection packet = dissect(frame);
  const wire::Qpn to = packet.transport().bth.destination;
  for (auto& [name, end] : ends_) {
    if (!packet.has_bth() || end.own != to) continue;
    if (!is_ignored(end, packet)) end.waiting.push_back(std::move(frame));
    return;
  }
  // Live, an earlier script's queue pair may still try.
  if (host_.is_virtual()) strays_.push_back(std::move(frame));
}

bool Runner::is_ignored(const ScriptEnd& end, const analysis::Dissection& packet) const {
  return std::any_of(end.ignored.begin(), end.ignored.end(), [&](const Statement* statement) {
    return !compare_packet(*statement, end, packet, scope_, memory_reader());
  });
}

// Whatever a statement expects, it expects a right frame.
void Runner::check_frame(const Statement& statement, const SeenFrame& frame) const {
  const analysis::Dissection packet = dissect(frame);
  const wire::ParseError verdict = packet.verdict();
  if (verdict == wire::ParseError::none || verdict == wire::ParseError::unknown_opcode) return;
  throw Mismatch{{statement.at, "a packet came that receivers refuse: " + analysis::summary(packet), "frame",
                  "a right packet", analysis::summary(packet)}};
}

void Runner::expect(const Statement& statement) {
  ScriptEnd& end = end_of(statement);
  const Window window = window_of(statement);
  take_frames();
  const Time deadline = window.given_up;
  while (end.waiting.empty() && host_.step(deadline)) take_frames();
  if (end.waiting.empty()) {
    throw Mismatch{{statement.at, fmt::format("no packet came within {}", span_text(deadline - last_)),
                    "packet", statement.word.empty() ? "a packet" : statement.word, "none"}};
  }
  const SeenFrame frame = std::move(end.waiting.front());
  end.waiting.pop_front();
  check_frame(statement, frame);
  const analysis::Dissection packet = dissect(frame);
  if (const auto difference = compare_packet(statement, end, packet, scope_, memory_reader()))
    throw differs(difference->at, difference->field, difference->expected, difference->seen);
  happened(statement, window, frame.at);
  bind_packet(statement, packet, scope_);
  end.note_seen(packet.transport());
  scope_.set(statement.object + ".next_psn", end.next_request.value());
}

// From now on, and of what waits already.
void Runner::ignore(const Statement& statement) {
  ScriptEnd& end = end_of(statement);
  take_frames();
  end.ignored.push_back(&statement);
  std::erase_if(end.waiting, [&](const SeenFrame& frame) {
    return !compare_packet(statement, end, dissect(frame), scope_, memory_reader());
  });
}

void Runner::quiet(const Statement& statement) {
  pass_time(host_.now() + scope_.span(*statement.amount));
  const ScriptEnd& end = end_of(statement);
  if (end.waiting.empty()) return;
  const std::string seen = analysis::summary(dissect(end.waiting.front()));
  throw Mismatch{{statement.at,
                  fmt::format("a packet came {} after the statement before, where none was expected: {}",
                              span_text(std::max(end.waiting.front().at - last_, Nanoseconds(0))), seen),
                  "packet", "none", seen}};
}

void Runner::check_nothing_is_left() {
  take_frames();
  const Position at = script_.statements.empty() ? Position{} : script_.statements.back().at;
  const auto refuse = [&](const SeenFrame& frame) {
    const std::string seen = analysis::summary(dissect(frame));
    throw Mismatch{{at, "the script is over, and a packet came that no statement expects: " + seen, "packet",
                    "none", seen}};
  };
  for (const auto& [name, end] : ends_)
    if (!end.waiting.empty()) refuse(end.waiting.front());
  if (!strays_.empty()) refuse(strays_.front());
}

}  // namespace urnic::script
