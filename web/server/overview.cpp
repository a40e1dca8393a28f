#include "web/server/overview.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace urnic::web {

using nlohmann::json;

json Sample::overview() const {
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(taken.time_since_epoch()).count();
  return {{"time_ms", milliseconds},
          {"running", !status.empty()},
          {"problem", problem},
          {"pid", status.value("pid", 0)},
          {"version", status.value("version", "")},
          {"engine", status.value("engine", json::object())},
          {"devices", status.value("devices", json::array())},
          {"contexts", status.value("contexts", json::array())},
          {"counters", counters.value("devices", json::object())},
          {"links", links.value("links", json::object())},
          {"plan", faults.value("plan", json())}};
}

std::shared_ptr<const Sample> Overview::sample() {
  const std::lock_guard lock(mutex_);
  const auto now = Clock::now();
  if (last_ != nullptr && now < next_) return last_;
  last_ = take();
  const auto took = Clock::now() - now;
  next_ = Clock::now() + std::max<Clock::duration>(kInterval, kRest * took);
  return last_;
}

void Overview::look_again() {
  const std::lock_guard lock(mutex_);
  next_ = {};
}

std::shared_ptr<const Sample> Overview::take() {
  auto sample = std::make_shared<Sample>();
  sample->number = last_ == nullptr ? 1 : last_->number + 1;
  sample->taken = std::chrono::system_clock::now();
  try {
    ask(*sample);
  } catch (const std::exception& error) {
    sample->problem = error.what();
  }
  return sample;
}

// While an engine is stuck, only the status is answered (docs/admin-socket.md).
void Overview::ask(Sample& sample) {
  sample.status = devices_.ask({{"cmd", "status"}});
  sample.counters = devices_.ask({{"cmd", "counters"}});
  sample.links = devices_.ask({{"cmd", "link"}});
  sample.faults = devices_.ask({{"cmd", "fault"}, {"do", "list"}});
  ask_queue_pairs(sample);
}

void Overview::ask_queue_pairs(Sample& sample) {
  json request{{"cmd", "queue_pairs"}};
  for (;;) {
    json answer = devices_.ask(request);
    for (json& each : answer.at("queue_pairs")) {
      std::string key = fmt::format("{}/{}", each.at("device").get_ref<const std::string&>(),
                                    each.at("qpn").get<std::uint32_t>());
      sample.queue_pairs.insert_or_assign(std::move(key), std::move(each));
    }
    if (answer.at("next").is_null()) return;
    request["after"] = answer.at("next");
  }
}

}  // namespace urnic::web
