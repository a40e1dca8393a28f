// Ports that wait for credits: how long, and whether for ever.
#include <algorithm>
#include <utility>

#include "device_model/link/subnet_links/lane_times.hpp"
#include "device_model/link/subnet_links/timed_subnet.hpp"

namespace urnic::link {
namespace {

// How often waits are looked at: how long they are, and whether they are a deadlock.
constexpr transport::Nanoseconds kLookInterval{100'000'000};

// Bytes of a tick of PortXmitWait (lid_routes.hpp).
constexpr std::uint64_t kTickBytes = 4;

}  // namespace

void TimedSubnet::begin_wait(LidPlace out, transport::Time now) {
  Output& port = output(out);
  if (!port.waits_since) port.waits_since = now;
  if (!std::exchange(looks_again_, true)) schedule(now + kLookInterval, {.kind = Kind::look});
}

// A manager's change counts at once, and may be ahead of what is due.
void TimedSubnet::end_wait(LidPlace out, transport::Time now) {
  Output& port = output(out);
  if (!port.waits_since) return;
  routes_.counters(out).transmit_wait +=
      bytes_on_line(std::max(now - *port.waits_since, transport::Nanoseconds(0)),
                    rules(out).megabits_per_second) /
      kTickBytes;
  port.waits_since.reset();
}

// Nothing has left this lane for an interval, for want of credits.
bool TimedSubnet::is_stuck(LidPlace out, std::uint8_t lane, transport::Time now) const {
  const Node& node = nodes_[out.node];
  if (node.queues.empty({out.port, lane})) return false;
  const Lane& state = node.outputs[out.port].lanes[lane];
  return state.head_since + kLookInterval <= now && !has_credits(out, lane);
}

// Runs only while ports wait, ten times a second: it may allocate.
std::vector<WaitsFor> TimedSubnet::stuck_lanes(transport::Time now) const {
  std::vector<WaitsFor> lanes;
  StuckLanes numbers;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    for (std::size_t port = 1; port < nodes_[node].outputs.size(); ++port) {
      const LidPlace out{node, static_cast<std::uint8_t>(port)};
      const LidPort* const link = routes_.active_port(out);
      if (link == nullptr) continue;
      for (std::uint8_t lane = 0; lane < nodes_[node].queues.lanes(); ++lane) {
        if (!is_stuck(out, lane, now)) continue;
        numbers[{node, out.port, lane}] = static_cast<std::uint32_t>(lanes.size());
        lanes.push_back({.lane = {out, {link->peer_node, link->peer_port}, lane}});
      }
    }
  }
  for (WaitsFor& each : lanes) look_behind(each, numbers);
  return lanes;
}

// What is in the receiver's buffer, and waits there in queues. What is used of it beyond that is on its way
// out: a packet is on its line, or its credits come.
void TimedSubnet::look_behind(WaitsFor& lane, const StuckLanes& stuck) const {
  const LidPlace at = lane.lane.receiver;
  const OutputQueues& queues = nodes_[at.node].queues;
  std::map<std::uint32_t, std::vector<std::uint32_t>> waits;  // of each stay
  for (std::size_t port = 1; port < nodes_[at.node].outputs.size(); ++port) {
    for (std::uint8_t own = 0; own < queues.lanes(); ++own) {
      const LidPlace out{at.node, static_cast<std::uint8_t>(port)};
      const auto found = stuck.find({out.node, out.port, own});
      queues.for_each({out.port, own}, at.port, [&](const Packet& packet) {
        if (packet.stay == kNoRecord || stays_[packet.stay].lane != lane.lane.lane) return;
        std::vector<std::uint32_t>& lanes = waits[packet.stay];
        if (found != stuck.end() && (lanes.empty() || lanes.back() != found->second))
          lanes.push_back(found->second);
      });
    }
  }
  std::uint32_t blocks = 0;
  for (auto& [stay, lanes] : waits) {
    blocks += stays_[stay].blocks;
    lane.packets.insert(std::move(lanes));
  }
  lane.can_end = blocks != used_blocks(lane.lane.sender, lane.lane.lane);
}

void TimedSubnet::look(transport::Time now) {
  looks_again_ = false;
  for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
    for (std::size_t port = 1; port < nodes_[node].outputs.size(); ++port) {
      const LidPlace out{node, static_cast<std::uint8_t>(port)};
      if (!output(out).waits_since) continue;
      // What it has waited so far shows in its counter.
      end_wait(out, now);
      begin_wait(out, now);
    }
  }
  const bool was_there = !deadlock_.empty();
  deadlock_ = find_deadlock(stuck_lanes(now));
  if (was_there || deadlock_.empty()) return;
  last_deadlock_ = deadlock_;
  deadlocks_.fetch_add(1, std::memory_order_relaxed);
}

// A silence that goes on is the same one. One that is over when its time is up was none.
void TimedSubnet::fall_silent(std::uint32_t device, transport::Time from, transport::Time until) {
  const auto place = routes_.port_of_device(device);
  if (!place || routes_.active_port(*place) == nullptr) return;
  Node& node = nodes_[place->node];
  const bool is_new = from >= node.silent_until;
  node.silent_until = until;
  if (!is_new) return;
  const LidOutput& line = rules(*place);
  node.watchdog_at = from + watchdog_time(line.megabits_per_second, line.line_width);
  schedule(node.watchdog_at, {.kind = Kind::watchdog, .place = *place});
}

void TimedSubnet::end_silence(std::uint32_t device) {
  if (const auto place = routes_.port_of_device(device)) nodes_[place->node].silent_until = {};
}

// Both ends of the link find the same; the adapter's counts it. An earlier silence's may come, which is over.
void TimedSubnet::watchdog(LidPlace place, transport::Time now) {
  const Node& node = nodes_[place.node];
  if (now == node.watchdog_at && now < node.silent_until) routes_.count_silence(place);
}

}  // namespace urnic::link
