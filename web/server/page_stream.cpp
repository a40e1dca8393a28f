#include "web/server/page_stream.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace urnic::web {
namespace {

using nlohmann::json;

std::string event(const char* name, const json& data) {
  return fmt::format("event: {}\ndata: {}\n\n", name, json_text(data));
}

}  // namespace

PageStream::PageStream(const Surroundings& surroundings, const Watched& watched)
    : surroundings_(surroundings), watched_(watched), sent_at_(Clock::now()) {
  if (watched_.ladder && watched_.queue_pair) ladder_ = surroundings_.ladders.watch(*watched_.queue_pair);
}

std::string PageStream::next() {
  for (;;) {
    Clock::time_point due = std::min(overview_at_, sent_at_ + kKeepAlive);
    if (watched_.queue_pair) due = std::min(due, queue_pair_at_);
    if (ladder_ != nullptr) due = std::min(due, ladder_at_);
    if (!surroundings_.stop.wait_until(due)) return "";
    std::string text = overview_events() + queue_pair_events() + ladder_events();
    const auto now = Clock::now();
    if (text.empty() && now >= sent_at_ + kKeepAlive) text = ":\n\n";
    if (text.empty()) continue;
    sent_at_ = now;
    return text;
  }
}

std::string PageStream::overview_events() {
  if (Clock::now() < overview_at_) return "";
  overview_at_ = Clock::now() + Overview::kInterval;
  const auto sample = surroundings_.overview.sample();
  if (sample->number == told_) return "";
  told_ = sample->number;
  std::string text = event("overview", sample->overview());
  if (const json changes = queue_pairs_.since_last(sample->queue_pairs); !changes.is_null())
    text += event("queue_pairs", changes);
  return text;
}

// Rests as the overview does: a queue pair with many packets under way takes longer.
std::string PageStream::queue_pair_events() {
  const auto before = Clock::now();
  if (!watched_.queue_pair || before < queue_pair_at_) return "";
  json detail;
  try {
    const json answer = surroundings_.devices.ask(
        {{"cmd", "queue_pair"}, {"device", watched_.queue_pair->device}, {"qpn", watched_.queue_pair->qpn}});
    detail = {{"queue_pair", answer.at("queue_pair")}};
  } catch (const std::exception& error) {
    detail = {{"queue_pair", nullptr}, {"problem", error.what()}};
  }
  const auto after = Clock::now();
  detail["time_us"] = std::chrono::duration_cast<std::chrono::microseconds>(after.time_since_epoch()).count();
  queue_pair_at_ = after + std::max<Clock::duration>(kQueuePairInterval, Overview::kRest * (after - before));
  return event("queue_pair", detail);
}

std::string PageStream::ladder_events() {
  if (ladder_ == nullptr || Clock::now() < ladder_at_) return "";
  ladder_at_ = Clock::now() + kLadderInterval;
  const LiveLadder::Changes changes = ladder_->changes_since(arrows_);
  if (changes.version == arrows_ && changes.problem == ladder_problem_) return "";
  arrows_ = changes.version;
  ladder_problem_ = changes.problem;
  return event("ladder", {{"arrows", changes.arrows},
                          {"capture", changes.capture},
                          {"oldest", changes.oldest},
                          {"missed", changes.missed},
                          {"problem", changes.problem}});
}

}  // namespace urnic::web
