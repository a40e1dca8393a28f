#include "tests/unit/recovery/laboratory.hpp"

#include <algorithm>
#include <stdexcept>

#include "device_model/transport/responder/held_packets.hpp"

namespace urnic::transport::lab {

// One side: a queue pair and its host. The memory never fails, so every action is carried out at once.
class Laboratory::End final : public Host {
 public:
  End(Laboratory& laboratory, std::size_t side)
      : laboratory_(laboratory),
        side_(side),
        // One queue pair may hold half of a pool.
        held_packets_(2 * laboratory.settings_.window_packets),
        qp(make_config(laboratory.settings_)) {}

  void send(const OutboundPacket& packet) override {
    std::uint32_t payload = static_cast<std::uint32_t>(packet.bytes.size());
    for (const MemoryRange& range : packet.gather) payload += range.length;
    const bool request = wire::traits(packet.headers.bth.opcode).request;
    const Link::Fate fate =
        laboratory_.links_[side_].send(packet.headers, payload, laboratory_.now_, qp.selective_acks(request));
    if (laboratory_.observer_ != nullptr) {
      laboratory_.observer_->sent(side_, packet.headers, payload, fate, laboratory_.now_);
    }
  }
  std::size_t frame_bytes(const OutboundPacket&) const override { return 0; }
  void write(const MemoryRange&, std::span<const std::byte>, bool, AccessTag) override {}
  void atomic(const AtomicAction& action) override {
    if (action.original != nullptr) *action.original = 0;
    if (action.send_reply) send({.headers = action.reply, .bytes = {}, .gather = {}, .tag = action.tag});
  }
  void complete(const Completion& completion, Stream) override {
    if (completion.receive) {
      if (completion.status == WorkStatus::success) {
        ++received;
        receives.replenish();
      }
    } else if (completion.status == WorkStatus::success) {
      ++completed;
      last_completion = laboratory_.now_;
    } else {
      if (failed++ == 0) first_failure = completion.status;
      last_completion = laboratory_.now_;
    }
    if (laboratory_.observer_ != nullptr) {
      laboratory_.observer_->completed(side_, completion, laboratory_.now_);
    }
  }
  void event(AsyncEvent) override {}

  // After every call into the queue pair: when it wants to act next.
  void look() {
    held_packets_.batch_flushed();
    wants_pump = qp.wants_pump();
    const std::optional<Time> time = qp.deadline();
    deadline = time ? first_moment(*time) : kNever;
  }

 private:
  QpConfig make_config(const LaboratorySettings& settings) {
    QpConfig config;
    config.qpn = wire::Qpn{static_cast<std::uint32_t>(0x11 + side_)};
    config.send_slots = settings.send_slots;
    config.receive_slots = settings.send_slots;
    config.window_packets = settings.window_packets;
    config.responder_resources = settings.max_reads;
    config.host = this;
    config.keys = &keys_;
    config.send_queue = &sends;
    config.receive_queue = &receives;
    config.counters = &counters;
    config.recovery = settings.recovery[side_];
    config.held_packets = &held_packets_;
    return config;
  }

  Laboratory& laboratory_;
  std::size_t side_;
  EveryKey keys_;
  HeldPacketPool held_packets_;

 public:
  UniformSendQueue sends;
  UniformReceiveQueue receives;
  Counters counters;
  QueuePair qp;

  bool wants_pump = false;
  Picoseconds deadline = kNever;
  std::uint64_t completed = 0;
  std::uint64_t failed = 0;
  std::uint64_t received = 0;
  WorkStatus first_failure = WorkStatus::success;
  Picoseconds last_completion{0};
};

LaboratorySettings symmetric(RecoveryMode mode, const LinkSettings& link) {
  LaboratorySettings settings;
  settings.links = {link, link};
  for (RecoverySettings& recovery : settings.recovery) recovery.mode = mode;
  return settings;
}

Laboratory::Laboratory(const LaboratorySettings& settings)
    : settings_(settings),
      links_{Link(settings.links[0], 2 * settings.seed), Link(settings.links[1], 2 * settings.seed + 1)} {
  for (std::size_t side = 0; side < 2; ++side) ends_[side] = std::make_unique<End>(*this, side);
  for (std::size_t side = 0; side < 2; ++side) connect(side);
}

Laboratory::~Laboratory() = default;

void Laboratory::connect(std::size_t side) {
  QpParameters parameters;
  parameters.access = {true, true, true};
  parameters.pkey = wire::Pkey{0xFFFF};
  parameters.path_mtu = settings_.path_mtu;
  parameters.destination = ends_[1 - side]->qp.qpn();
  parameters.send_psn = parameters.receive_psn = settings_.first_psn;
  parameters.max_reads = parameters.max_destination_reads = settings_.max_reads;
  parameters.min_rnr_timer = 1;
  parameters.timeout = settings_.timeout;
  parameters.retry_count = settings_.retry_count;
  parameters.rnr_retry = 7;
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
    ends_[side]->qp.modify(state, parameters, transport_time(now_));
  }
  ends_[side]->look();
}

void Laboratory::reset(std::size_t side) {
  End& end = *ends_[side];
  end.qp.modify(QpState::reset, end.qp.parameters(), transport_time(now_));
  end.sends.clear();
  end.receives.clear();
  connect(side);
}

void Laboratory::post(std::size_t side, WorkOpcode opcode, std::uint32_t length, std::uint32_t count) {
  End& end = *ends_[side];
  end.sends.shape(opcode, length);
  end.sends.post(count);
  end.qp.doorbell(transport_time(now_));
  end.look();
}

QueuePair& Laboratory::queue_pair(std::size_t side) { return ends_[side]->qp; }
const Counters& Laboratory::counters(std::size_t side) const { return ends_[side]->counters; }
std::uint64_t Laboratory::completed(std::size_t side) const { return ends_[side]->completed; }
std::uint64_t Laboratory::failed(std::size_t side) const { return ends_[side]->failed; }
WorkStatus Laboratory::first_failure(std::size_t side) const { return ends_[side]->first_failure; }
Picoseconds Laboratory::last_completion(std::size_t side) const { return ends_[side]->last_completion; }
std::uint64_t Laboratory::received(std::size_t side) const { return ends_[side]->received; }

void Laboratory::deliver(std::size_t from) {
  const Flight& flight = links_[from].take();
  End& end = *ends_[1 - from];
  if (observer_ != nullptr) observer_->arrived(1 - from, flight, now_);
  end.qp.receive({.headers = flight.headers,
                  .payload = payload_of(flight.payload),
                  .selective_acks = flight.selective_acks},
                 transport_time(now_));
  end.look();
}

// The next thing that happens: of several at once first what arrives, then a timer, then what is sent.
bool Laboratory::step(Picoseconds until) {
  enum class Kind { arrival, timer, transmission } kind = Kind::arrival;
  std::size_t side = 0;
  Picoseconds next = kNever;
  const auto consider = [&](Picoseconds when, Kind what, std::size_t where) {
    if (when >= next) return;
    next = when;
    kind = what;
    side = where;
  };
  for (std::size_t i = 0; i < 2; ++i) consider(links_[i].next_arrival(), Kind::arrival, i);
  for (std::size_t i = 0; i < 2; ++i) {
    if (ends_[i]->deadline != kNever) consider(std::max(now_, ends_[i]->deadline), Kind::timer, i);
  }
  for (std::size_t i = 0; i < 2; ++i) {
    if (ends_[i]->wants_pump) consider(std::max(now_, links_[i].free_at()), Kind::transmission, i);
  }
  if (next == kNever) return false;
  if (next > until) {
    now_ = until;
    return false;
  }
  events_at_once_ = next == now_ ? events_at_once_ + 1 : 0;
  if (events_at_once_ > 100'000) throw std::logic_error("time stands still: a queue pair asks without end");
  now_ = next;
  ++events_;
  if (kind == Kind::arrival) {
    deliver(side);
    return true;
  }
  End& end = *ends_[side];
  if (kind == Kind::timer) {
    if (observer_ != nullptr) observer_->timer(side, now_);
    end.qp.on_timer(transport_time(now_));
  } else {
    end.qp.pump(transport_time(now_), 1);
  }
  end.look();
  return true;
}

bool Laboratory::run(const std::function<bool()>& done, Picoseconds until) {
  while (!done()) {
    if (!step(until)) return done();
  }
  return true;
}

bool Laboratory::run_until_complete(std::uint64_t count, Picoseconds until) {
  const End& end = *ends_[0];
  while (end.completed + end.failed < count) {
    if (!step(until)) return false;
  }
  return true;
}

bool Laboratory::run_until_quiet(Picoseconds until) {
  while (step(until)) {
  }
  return now_ < until;
}

void Laboratory::wait_until(Picoseconds until) {
  run_until_quiet(until);
  now_ = std::max(now_, until);
}

}  // namespace urnic::transport::lab
