// How packets leave by a port: in their lane's turn, when there are credits for them (IBTA 7.6, 7.9), and not
// too late (18.2.5.4).
#include <algorithm>
#include <utility>

#include "device_model/link/subnet_links/lane_times.hpp"
#include "device_model/link/subnet_links/timed_subnet.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::link {
namespace {

// A stalled lane drops everything for so many times the life at its head (IBTA 18.2.5.4).
constexpr int kStallLives = 8;

constexpr LaneSet bit(std::uint8_t lane) { return static_cast<LaneSet>(1u << lane); }

}  // namespace

void TimedSubnet::queue_up(LidPlace out, std::uint8_t lane, std::uint8_t input, std::uint32_t packet,
                           transport::Time now) {
  Output& port = output(out);
  if (port.lanes[lane].stalled_until > now) return discard(packet, out, "its virtual lane is stalled", now);
  OutputQueues& queues = nodes_[out.node].queues;
  const PortLane at{out.port, lane};
  if (queues.empty(at)) {
    port.lanes[lane].head_since = now;
    port.waiting = static_cast<LaneSet>(port.waiting | bit(lane));
  }
  queues.push(at, input, packet);
  port.queued += packets_[packet].bytes;
  watch_head(out, lane, now);
  send(out, now);
}

// Of the lane's next packet.
bool TimedSubnet::has_credits(LidPlace out, std::uint8_t lane) const {
  const Node& node = nodes_[out.node];
  const std::uint32_t wanted = packets_[node.queues.front({out.port, lane})].blocks();
  return node.outputs[out.port].lanes[lane].used_blocks + wanted <= buffer_blocks_;
}

LaneSet TimedSubnet::lanes_with_credits(LidPlace out) const {
  const LaneSet waiting = output(out).waiting;
  LaneSet lanes = 0;
  for (std::uint8_t lane = 0; lane < kDataLanes; ++lane)
    if ((waiting & bit(lane)) != 0 && has_credits(out, lane)) lanes = static_cast<LaneSet>(lanes | bit(lane));
  return lanes;
}

void TimedSubnet::send(LidPlace out, transport::Time now) {
  Output& port = output(out);
  if (port.is_sending || port.waiting == 0) return;
  const LidPort* const link = routes_.active_port(out);
  if (link == nullptr) return drop_all(out, port.waiting, "a port on the way is not active", now);
  const LaneSet ready = lanes_with_credits(out);
  if (ready == 0) return begin_wait(out, now);
  end_wait(out, now);
  put_on_line(out, port.arbiter.choose(ready), *link, now);
}

void TimedSubnet::put_on_line(LidPlace out, std::uint8_t lane, const LidPort& link, transport::Time now) {
  Output& port = output(out);
  const std::uint32_t number = take(out, lane, now);
  Packet& packet = packets_[number];
  port.lanes[lane].drops = 0;
  port.arbiter.charge(packet.bytes);
  port.lanes[lane].used_blocks += packet.blocks();
  port.leaving = packet.stay;
  packet.stay = stays_.take({.sender = out, .lane = lane, .blocks = packet.blocks(), .copies = 1});
  LidPortCounters& counters = routes_.counters(out);
  ++counters.transmitted_packets;
  counters.transmitted_bytes += packet.bytes - wire::infiniband::kVariantCrcBytes;
  port.is_sending = true;
  const transport::Time sent = now + time_on_line(packet.bytes, rules(out).megabits_per_second);
  port.free_at = sent;
  schedule(sent, {.kind = Kind::line_is_free, .place = out});
  schedule(sent + settings_.hop_delay,
           {.kind = Kind::arrives, .place = {link.peer_node, link.peer_port}, .value = number});
}

// The packet whose turn it is.
std::uint32_t TimedSubnet::take(LidPlace out, std::uint8_t lane, transport::Time now) {
  OutputQueues& queues = nodes_[out.node].queues;
  Output& port = output(out);
  const std::uint32_t number = queues.pop({out.port, lane});
  port.queued -= packets_[number].bytes;
  port.lanes[lane].head_since = now;
  if (queues.empty({out.port, lane})) port.waiting = static_cast<LaneSet>(port.waiting & ~bit(lane));
  watch_head(out, lane, now);
  return number;
}

// Only now the packet's place in the input buffer is free: a switch stores a packet until it has left.
void TimedSubnet::line_is_free(LidPlace out, transport::Time now) {
  Output& port = output(out);
  port.is_sending = false;
  end_stay(std::exchange(port.leaving, kNoRecord), now);
  send(out, now);
}

void TimedSubnet::credits_come(const Event& event, transport::Time now) {
  output(event.place).lanes[event.lane].used_blocks -= event.value;
  send(event.place, now);
}

void TimedSubnet::drop_all(LidPlace out, LaneSet lanes, std::string_view why, transport::Time now) {
  for (std::uint8_t lane = 0; lane < kDataLanes; ++lane) {
    if ((lanes & bit(lane)) == 0) continue;
    while (!nodes_[out.node].queues.empty({out.port, lane})) discard(take(out, lane, now), out, why, now);
  }
  if (output(out).waiting == 0) end_wait(out, now);
}

// Of a switch's port: its head has had its time there, or the packet has had its time in the switch. Adapters
// keep their packets. Empty: never, or there is no packet.
std::optional<transport::Time> TimedSubnet::head_is_old_at(LidPlace out, std::uint8_t lane) const {
  const Node& node = nodes_[out.node];
  const LidNode& as_managed = routes_.node(out.node);
  if (as_managed.has_device() || node.queues.empty({out.port, lane})) return {};
  const auto at_head = life_of(rules(out).head_of_queue_life);
  const auto in_switch = life_of(as_managed.life_time);
  std::optional<transport::Time> old;
  if (at_head) old = node.outputs[out.port].lanes[lane].head_since + *at_head;
  if (!in_switch) return old;
  const transport::Time end = packets_[node.queues.front({out.port, lane})].arrived + *in_switch;
  return old ? std::min(*old, end) : end;
}

// A shorter life, or a head of another input that has waited for longer, needs an earlier look. What is too
// old already is looked at next.
void TimedSubnet::watch_head(LidPlace out, std::uint8_t lane, transport::Time now) {
  const auto old_at = head_is_old_at(out, lane);
  if (!old_at) return;
  const transport::Time due = std::max(*old_at, now);
  std::optional<transport::Time>& watched_until = output(out).lanes[lane].watched_until;
  if (watched_until && *watched_until <= due) return;
  watched_until = due;
  schedule(due, {.kind = Kind::head_is_old, .lane = lane, .place = out});
}

// It may be another head than when the event was scheduled.
void TimedSubnet::look_at_head(LidPlace out, std::uint8_t lane, transport::Time now) {
  std::optional<transport::Time>& watched_until = output(out).lanes[lane].watched_until;
  if (watched_until && *watched_until <= now) watched_until.reset();
  const auto old_at = head_is_old_at(out, lane);
  if (old_at && *old_at <= now) {
    drop_head(out, lane, now);
    send(out, now);
  }
  watch_head(out, lane, now);
}

void TimedSubnet::drop_head(LidPlace out, std::uint8_t lane, transport::Time now) {
  Output& port = output(out);
  Lane& stuck = port.lanes[lane];
  const LidOutput& limits = rules(out);
  const auto at_head = life_of(limits.head_of_queue_life);
  const bool was_too_long_there = at_head && stuck.head_since + *at_head <= now;
  discard(take(out, lane, now), out,
          was_too_long_there ? "it was at the head of a queue for longer than HOQLife"
                             : "it was in a switch for longer than LifeTimeValue",
          now);
  if (was_too_long_there && limits.stall_count != 0 && ++stuck.drops >= limits.stall_count) {
    stuck.drops = 0;
    stuck.stalled_until = now + kStallLives * *at_head;
    drop_all(out, bit(lane), "its virtual lane is stalled", now);
  }
  if (port.waiting == 0) end_wait(out, now);
}

}  // namespace urnic::link
