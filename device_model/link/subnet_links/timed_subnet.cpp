#include "device_model/link/subnet_links/timed_subnet.hpp"

#include <algorithm>
#include <cassert>
#include <limits>

#include "device_model/link/frame_pool.hpp"
#include "device_model/link/subnet_links/lane_times.hpp"
#include "wire/infiniband/local_route_header.hpp"
#include "wire/infiniband/route_codec.hpp"
#include "wire/infiniband/variant_crc.hpp"

namespace urnic::link {
namespace {

// Of a packet: it arrives, or it enters; its line becomes free; its last buffer's credits are under way. The
// rest is for what ports have to look at. Beyond that the queue would allocate.
constexpr std::size_t kEventsOfPacket = 4;

// How much data a device may queue for its line: enough that the line is never idle between two rounds.
constexpr transport::Nanoseconds kAhead{20'000};
// On slow lines so many packets.
constexpr std::size_t kPacketsAhead = 4;

}  // namespace

TimedSubnet::TimedSubnet(const TimedSubnetSettings& settings, LidRoutes& routes, LidExit& exit)
    : settings_(settings),
      buffer_blocks_(settings.buffer_bytes / kBlockBytes),
      routes_(routes),
      exit_(exit),
      packets_(settings.most_packets),
      stays_(2 * settings.most_packets),
      groups_(settings.most_packets),
      events_(kEventsOfPacket * settings.most_packets) {}

void TimedSubnet::node_changed(std::uint32_t number, transport::Time now) {
  while (nodes_.size() < routes_.size()) nodes_.emplace_back(packets_);
  const LidNode& node = routes_.node(number);
  if (node.has_device() == nodes_[number].is_switch) {
    nodes_[number].is_switch = !node.has_device();
    switches_ += nodes_[number].is_switch ? 1 : -1;
  }
  std::uint8_t lanes = 0;
  for (const LidOutput& output : node.outputs) lanes = std::max(lanes, output.most_lanes);
  nodes_[number].queues.resize(node.outputs.size(), lanes);
  nodes_[number].outputs.resize(node.outputs.size());
  for (std::size_t port = 1; port < node.outputs.size(); ++port) {
    const LidPlace place{number, static_cast<std::uint8_t>(port)};
    output(place).arbiter.configure(node.outputs[port]);
    for (std::uint8_t lane = 0; lane < lanes; ++lane) watch_head(place, lane, now);
    send(place, now);
    // The other end may send now, or has lost its link.
    const LidPlace peer{node.ports[port].peer_node, node.ports[port].peer_port};
    if (peer.port < nodes_[peer.node].outputs.size() && peer.port != 0) send(peer, now);
  }
}

// In the order of time: what is due before the packet comes is carried out before it.
void TimedSubnet::enter(PooledFrame& frame, std::uint32_t device, transport::Time now) {
  const auto place = routes_.port_of_device(device);
  const bool is_known =
      place && place->node < nodes_.size() && place->port < nodes_[place->node].outputs.size();
  if (!is_known || routes_.node(place->node).lid == wire::Lid{})
    return exit_.lose(frame, "the port has no LID");
  Packet packet{.frame = &frame,
                .bytes = static_cast<std::uint32_t>(frame.size + wire::infiniband::kVariantCrcBytes),
                .service_level = wire::infiniband::decode_local_route(frame.bytes.data()).service_level};
  if (packets_.is_full()) return exit_.lose(frame, "too many packets are in the subnet");
  if (wire::is_multicast(wire::infiniband::destination_of(frame.whole()))) packet.group = groups_.take({});
  const std::uint32_t number = packets_.take(packet);
  output(*place).entering += packet.bytes;
  schedule(now, {.kind = Kind::enters, .place = *place, .value = number});
}

void TimedSubnet::schedule(transport::Time due, const Event& event) {
  assert(due >= latest_);
  events_.push(event, due);
}

void TimedSubnet::pass_next() {
  const auto departure = events_.take_due(transport::Time::max());
  latest_ = departure->due;
  carry_out(departure->item, departure->due);
}

void TimedSubnet::carry_out(const Event& event, transport::Time now) {
  switch (event.kind) {
    case Kind::enters:
      output(event.place).entering -= packets_[event.value].bytes;
      return leave_by(event.place, 0, event.value, now);
    case Kind::arrives:
      return arrive(event.place, event.value, now);
    case Kind::line_is_free:
      return line_is_free(event.place, now);
    case Kind::credits:
      return credits_come(event, now);
    case Kind::head_is_old:
      return look_at_head(event.place, event.lane, now);
    case Kind::device_takes:
      nodes_[event.place.node].device_is_busy = false;
      return hand_to_device(event.place.node, now);
    case Kind::watchdog:
      return watchdog(event.place, now);
    case Kind::look:
      return look(now);
  }
}

std::uint8_t TimedSubnet::lanes_of(LidPlace out) const {
  const LidPort& link = routes_.node(out.node).ports[out.port];
  return std::min(rules(out).lanes, rules({link.peer_node, link.peer_port}).lanes);
}

std::size_t TimedSubnet::most_queued(LidPlace place) const {
  return std::max<std::size_t>(bytes_on_line(kAhead, rules(place).megabits_per_second),
                               kPacketsAhead * kSlotBytes);
}

// All lanes together: a device that asks does not say in which lane it will send. Less than the room for the
// longest packet is none: else small packets would take it before a large one ever fits.
std::size_t TimedSubnet::room(std::uint32_t device, std::size_t least) const {
  const auto place = routes_.port_of_device(device);
  if (!place || routes_.active_port(*place) == nullptr) return std::numeric_limits<std::size_t>::max();
  const Output& out = output(*place);
  const std::size_t queued = out.queued + out.entering;
  const std::size_t most = most_queued(*place);
  if (queued == 0) return std::max(most, least);
  const std::size_t free = most - std::min(most, queued);
  return free >= kSlotBytes ? free : 0;
}

// When half of what may be queued has left; now, if nothing is: the device has promised the room to others.
// While the port waits for credits nobody knows when, but something has to happen before.
transport::Time TimedSubnet::room_at(std::uint32_t device) const {
  const auto place = routes_.port_of_device(device);
  if (!place || routes_.active_port(*place) == nullptr) return {};
  const Output& out = output(*place);
  if (out.is_sending) {
    const std::size_t behind = out.queued - std::min(out.queued, most_queued(*place) / 2);
    return out.free_at + time_on_line(static_cast<std::uint32_t>(behind), rules(*place).megabits_per_second);
  }
  return out.queued + out.entering == 0 ? latest_ : std::max(latest_, next_due().value_or(latest_));
}

std::uint32_t TimedSubnet::used_blocks(LidPlace sender, std::uint8_t lane) const {
  return output(sender).lanes[lane].used_blocks;
}

void TimedSubnet::discard(std::uint32_t packet, std::optional<LidPlace> out, std::string_view why,
                          transport::Time now) {
  if (out) ++routes_.counters(*out).discards;
  exit_.lose(*packets_[packet].frame, why);
  release(packet, now);
}

void TimedSubnet::release(std::uint32_t number, transport::Time now) {
  const Packet& packet = packets_[number];
  end_stay(packet.stay, now);
  if (packet.group != kNoRecord && --groups_[packet.group].copies == 0) groups_.give(packet.group);
  packets_.give(number);
}

void TimedSubnet::end_stay(std::uint32_t number, transport::Time now) {
  if (number == kNoRecord) return;
  Stay& stay = stays_[number];
  if (--stay.copies != 0) return;
  schedule(now + settings_.hop_delay,
           {.kind = Kind::credits, .lane = stay.lane, .place = stay.sender, .value = stay.blocks});
  stays_.give(number);
}

}  // namespace urnic::link
