#include "script/live_host/live_host.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>
#include <utility>

#include "analysis/dissection/dissection.hpp"
#include "script/local_route.hpp"
#include "wire/arp.hpp"

namespace urnic::script {
namespace {

constexpr std::uint32_t kLowestQpn = 0x100000;
constexpr std::uint32_t kQpnsOfScript = 0x100;
constexpr std::uint32_t kQpnRanges = 0xE000;
// How often something is looked for of which no descriptor tells, such as a completion.
constexpr Nanoseconds kLook{500'000};
// No call takes nearly as long, however busy the machine.
constexpr Nanoseconds kCallPatience{30'000'000'000};

}  // namespace

LiveHost::LiveHost(std::shared_ptr<FrameSocket> frames, std::unique_ptr<AgentConnection> agent,
                   const wire::NetworkHeaders& path, SetPolicies set_policies, Nanoseconds settle)
    : frames_(std::move(frames)),
      agent_(std::move(agent)),
      path_(path),
      first_qpn_(kLowestQpn + std::random_device{}() % kQpnRanges * kQpnsOfScript),
      set_policies_(std::move(set_policies)),
      settle_(settle) {
  take();
  seen_.clear();
}

Time LiveHost::now() const { return Time(std::chrono::steady_clock::now().time_since_epoch()); }

void LiveHost::send(std::span<const Bytes> frames) {
  for (const Bytes& frame : frames) frames_->send(frame);
}

// Only what has a BTH is the script's; a LAN has other frames, too.
void LiveHost::take() {
  while (auto frame = frames_->receive()) {
    const Time at = now();
    const bool is_script_s = analysis::dissect(*frame, link_layer_of(path_)).has_bth();
    if (is_script_s) seen_.push_back({std::move(*frame), at});
    if (!is_script_s) answer_neighbour(*frame);
  }
}

// Somebody asks who has the script's address.
bool LiveHost::answer_neighbour(const Bytes& frame) {
  const auto arp = wire::parse_arp(frame);
  if (!arp || arp->operation != wire::ArpOperation::request || arp->target != path_.source) return false;
  const wire::Arp reply{.operation = wire::ArpOperation::reply,
                        .sender_mac = path_.source_mac,
                        .sender = path_.source,
                        .target_mac = arp->sender_mac,
                        .target = arp->sender};
  frames_->send(wire::encode_arp(reply, arp->sender_mac));
  return true;
}

std::optional<SeenFrame> LiveHost::receive() {
  take();
  if (seen_.empty()) return {};
  SeenFrame frame = std::move(seen_.front());
  seen_.pop_front();
  return frame;
}

Answer LiveHost::call(const Call& call) {
  if (call.verb == Keyword::qp) return make_queue_pair(call);
  if (attached_.contains(call.object))
    return {.refusal = "EPERM: the queue pair is another program's, which alone makes calls of it"};
  return ask_agent(call);
}

Answer LiveHost::make_queue_pair(const Call& call) {
  Answer answer;
  if (call.has("attach")) {
    attached_[call.object] = call.number("attach");
    answer.numbers["qpn"] = call.number("attach");
  } else {
    answer = ask_agent(call);
  }
  if (answer.refusal.empty() && set_policies_)
    set_policies_(static_cast<std::uint32_t>(answer.numbers.at("qpn")), call);
  return answer;
}

// Meanwhile the device may ask who has the script's address.
Answer LiveHost::ask_agent(const Call& call) {
  const Time deadline = now() + kCallPatience;
  agent_->begin(call);
  for (;;) {
    if (auto answer = agent_->answer()) return *answer;
    if (now() > deadline) throw std::runtime_error("the agent does not answer");
    const timespec limit{.tv_sec = 0, .tv_nsec = 100'000'000};
    pollfd readable[] = {{agent_->descriptor(), POLLIN, 0}, {frames_->descriptor(), POLLIN, 0}};
    ppoll(readable, 2, &limit, nullptr);
    take();
  }
}

bool LiveHost::step(Time until) {
  const Time begin = now();
  if (begin >= until) return false;
  if (!seen_.empty()) return true;
  const Nanoseconds span = std::min<Nanoseconds>(until - begin, kLook);
  const timespec limit{.tv_sec = 0, .tv_nsec = span.count()};
  pollfd readable{frames_->descriptor(), POLLIN, 0};
  ppoll(&readable, 1, &limit, nullptr);
  take();
  return true;
}

void LiveHost::settle() {
  const Time until = now() + settle_;
  while (now() < until) {
    const timespec limit{.tv_sec = 0, .tv_nsec = std::min<Nanoseconds>(until - now(), kLook).count()};
    ppoll(nullptr, 0, &limit, nullptr);
    take();
  }
}

}  // namespace urnic::script
