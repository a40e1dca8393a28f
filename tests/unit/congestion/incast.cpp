#include "tests/unit/congestion/incast.hpp"

#include <algorithm>
#include <utility>

#include "tests/unit/recovery/link.hpp"

namespace urnic::transport::lab {

namespace {

// Packets that a sender hands to its line ahead of time, and in one turn: about what the device's engine
// does.
constexpr Nanoseconds kAhead{2'000};
constexpr std::uint32_t kTurn = 32;
constexpr Nanoseconds kSampleInterval{1'000};

double delay_factor(const IncastSettings& settings, std::uint32_t flow) {
  return flow % 2 == 1 ? settings.far : 1;
}

Nanoseconds one_way(const IncastSettings& settings, std::uint32_t flow) {
  const double delay = static_cast<double>(settings.delay.count()) * delay_factor(settings, flow);
  return Nanoseconds(static_cast<std::int64_t>(delay));
}

// Half of the shortest delay is behind the port, where all flows are alike.
link::LinkSettings senders_line(const IncastSettings& settings, std::uint32_t flow) {
  return {.rate_gbps = settings.line_gbps,
          .delay = one_way(settings, flow) - settings.delay / 2,
          .queue_packets = 1u << 12};
}

link::LinkSettings way_back(const IncastSettings& settings, std::uint32_t flow) {
  return {.delay = one_way(settings, flow), .loss = settings.loss, .seed = settings.seed};
}

link::LinkSettings port_of(const IncastSettings& settings) {
  return {.rate_gbps = settings.line_gbps,
          .delay = settings.delay / 2,
          .queue_packets = settings.queue_packets,
          .loss = settings.loss,
          .ecn_min_bytes = settings.ecn_min_bytes,
          .ecn_max_bytes = settings.ecn_max_bytes,
          .ecn_probability = settings.ecn_probability,
          .seed = settings.seed};
}

IncastEndSettings end_of(const IncastSettings& settings, std::uint32_t flow, bool sends) {
  const wire::Qpn sender{0x1000 + flow};
  const wire::Qpn receiver{0x2000 + flow};
  return {.flow = flow,
          .sends = sends,
          .qpn = sends ? sender : receiver,
          .peer = sends ? receiver : sender,
          .path_mtu = settings.path_mtu,
          .congestion = settings.congestion};
}

wire::TransportHeaders middle_of_a_write() {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, wire::Operation::write_middle);
  return headers;
}

}  // namespace

Incast::Flow::Flow(const IncastSettings& settings, std::uint32_t number, IncastNetwork& network)
    : sender(end_of(settings, number, true), network),
      receiver(end_of(settings, number, false), network),
      line(senders_line(settings, number), number, link::Direction::transmit),
      back(way_back(settings, number), number, link::Direction::receive) {}

Incast::Incast(const IncastSettings& settings)
    : settings_(settings),
      capable_(reacts_to_marks(settings.congestion)),
      port_(port_of(settings), settings.flows, link::Direction::transmit),
      events_(1u << 16) {
  IncastNetwork& network = *this;
  for (std::uint32_t number = 0; number < settings.flows; ++number) {
    Flow& flow = *flows_.emplace_back(std::make_unique<Flow>(settings, number, network));
    flow.sender.connect(now_);
    flow.receiver.connect(now_);
  }
}

void Incast::start(std::uint32_t flow) {
  flows_[flow]->sender.write_endlessly(now_);
  look_ahead(*flows_[flow]);
}

void Incast::leave(std::uint32_t flow) { flows_[flow]->sender.stop(now_); }

double Incast::capacity() const {
  const double line = line_bytes(middle_of_a_write(), settings_.path_mtu);
  return settings_.line_gbps * 1e9 / 8 * settings_.path_mtu / line;
}

void Incast::run_for(Nanoseconds span) {
  const Time until = now_ + span;
  while (const auto next = events_.take_due(until)) {
    sample_queue(next->due);
    now_ = next->due;
    carry_out(next->item);
  }
  sample_queue(until);
  now_ = until;
}

std::vector<std::uint64_t> Incast::take_queue_samples() {
  if (!next_sample_) next_sample_ = now_;
  return std::exchange(samples_, {});
}

void Incast::sample_queue(Time until) {
  if (!next_sample_) return;
  for (; *next_sample_ < until; *next_sample_ += kSampleInterval)
    samples_.push_back(port_.queue().bytes(*next_sample_));
}

void Incast::carry_out(const Event& event) {
  Flow& flow = *flows_[event.flow];
  switch (event.kind) {
    case Kind::at_switch:
      return enter_port(event);
    case Kind::at_receiver:
      flow.receiver.receive(packets_[event.packet], now_);
      free_.push_back(event.packet);
      return answer(flow);
    case Kind::at_sender:
      flow.sender.receive(packets_[event.packet], now_);
      free_.push_back(event.packet);
      break;
    case Kind::transmission:
      if (flow.transmission != now_) return;
      flow.transmission = Time::max();
      transmit(flow);
      break;
    case Kind::timer:
      if (flow.timer != now_) return;
      flow.timer = Time::max();
      if (const auto deadline = flow.sender.queue_pair.deadline(); deadline && *deadline <= now_)
        flow.sender.queue_pair.on_timer(now_);
      break;
  }
  look_ahead(flow);
}

void Incast::enter_port(const Event& event) {
  Flow& flow = *flows_[event.flow];
  IncastPacket& packet = packets_[event.packet];
  const std::uint32_t bytes = lab::frame_bytes(packet.headers, packet.payload);
  const link::Passage passage = port_.enter(now_, bytes, {event.flow, 1, ++flow.sent});
  if (passage.drop != link::DropCause::none) {
    queue_drops_ += passage.drop == link::DropCause::queue_full;
    free_.push_back(event.packet);
    return;
  }
  packet.marked = capable_ && passage.congestion;
  marks_ += packet.marked;
  events_.push({Kind::at_receiver, event.flow, event.packet}, passage.due);
}

void Incast::answer(Flow& flow) {
  while (flow.receiver.queue_pair.wants_pump()) flow.receiver.pump(now_, kTurn);
}

void Incast::transmit(Flow& flow) {
  const std::size_t room = flow.line.room(now_, kAhead, settings_.path_mtu) / settings_.path_mtu;
  flow.sender.pump(now_, static_cast<std::uint32_t>(std::min<std::size_t>(room, kTurn)));
}

// An end has sent a packet.
void Incast::take(const IncastEnd& from, const IncastPacket& packet) {
  Flow& flow = *flows_[from.flow()];
  const std::uint32_t bytes = lab::frame_bytes(packet.headers, packet.payload);
  const link::Passage passage = from.is_sender()
                                    ? flow.line.enter(now_, bytes, {})
                                    : flow.back.enter(now_, bytes, {from.flow(), 2, ++flow.answers});
  if (passage.drop != link::DropCause::none) return;
  events_.push({from.is_sender() ? Kind::at_switch : Kind::at_sender, from.flow(), store(packet)},
               passage.due);
}

std::uint32_t Incast::store(const IncastPacket& packet) {
  if (free_.empty()) {
    packets_.push_back(packet);
    return static_cast<std::uint32_t>(packets_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  packets_[slot] = packet;
  return slot;
}

void Incast::look_ahead(Flow& flow) {
  const std::uint32_t number = flow.sender.flow();
  if (const auto time = next_transmission(flow))
    schedule(flow.transmission, *time, Kind::transmission, number);
  if (const auto deadline = flow.sender.queue_pair.deadline())
    schedule(flow.timer, *deadline, Kind::timer, number);
}

std::optional<Time> Incast::next_transmission(Flow& flow) {
  const QueuePair& queue_pair = flow.sender.queue_pair;
  if (!queue_pair.wants_pump()) return std::nullopt;
  Time time = now_;
  if (queue_pair.is_held_back(now_)) time = std::max(time, queue_pair.free_at());
  if (flow.line.room(time, kAhead, settings_.path_mtu) < settings_.path_mtu)
    time = std::max(time, flow.line.room_at(kAhead, settings_.path_mtu));
  return time;
}

// An event that turns out to be early looks ahead again.
void Incast::schedule(Time& scheduled, Time time, Kind kind, std::uint32_t flow) {
  time = std::max(time, now_);
  if (time >= scheduled) return;
  scheduled = time;
  events_.push({kind, flow, 0}, time);
}

}  // namespace urnic::transport::lab
