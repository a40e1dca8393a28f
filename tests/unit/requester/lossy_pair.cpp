#include "tests/unit/requester/lossy_pair.hpp"

#include <algorithm>
#include <optional>

namespace urnic::transport::requester_test {
namespace {

constexpr PdId kPd{1};
constexpr Nanoseconds kFlightTime{1000};

QpConfig config_of(End& end, std::uint32_t qpn, const PairSetup& setup) {
  QpConfig config;
  config.qpn = wire::Qpn{qpn};
  config.pd = kPd;
  config.send_slots = 128;
  config.receive_slots = 128;
  config.window_packets = setup.window_packets;
  config.host = &end.host;
  config.keys = &end.keys;
  config.send_queue = &end.send_queue;
  config.receive_queue = &end.receive_queue;
  config.counters = &end.counters;
  return config;
}

// Ends batches until nothing comes of it.
void end_batch(End& end, Time now) {
  while (!end.host.empty()) {
    const std::vector<AccessTag> failures = end.host.flush();
    failures.empty() ? end.send_queue.forget_retired() : end.send_queue.keep_retired();
    for (const AccessTag& tag : failures) end.queue_pair.memory_failed(tag, now);
  }
}

}  // namespace

End::End(std::uint32_t own_qpn, const PairSetup& setup) : queue_pair(config_of(*this, own_qpn, setup)) {
  keys.add(kEndKey, kPd, memory);
}

void End::connect(std::uint32_t peer_qpn, wire::Psn send_psn, wire::Psn receive_psn, const PairSetup& setup) {
  QpParameters parameters;
  parameters.access = {true, true, true};
  parameters.path_mtu = setup.path_mtu;
  parameters.destination = wire::Qpn{peer_qpn};
  parameters.receive_psn = receive_psn;
  parameters.send_psn = send_psn;
  parameters.max_destination_reads = setup.reads;
  parameters.max_reads = setup.reads;
  parameters.min_rnr_timer = 1;
  parameters.timeout = 5;  // 131 us
  parameters.retry_count = setup.retry_count;
  parameters.rnr_retry = 7;
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts}) {
    queue_pair.modify(state, parameters, Time{});
  }
}

LossyPair::LossyPair(const PairSetup& setup)
    : left(0x11, setup), right(0x22, setup), faults_(setup.faults), random_(setup.seed) {
  const wire::Psn left_psn(0xFFFFF0);  // wraps soon
  const wire::Psn right_psn(77);
  left.connect(0x22, left_psn, right_psn, setup);
  right.connect(0x11, right_psn, left_psn, setup);
}

void LossyPair::fly(End& to, const bench::Packet& packet) {
  const bool late = chance(faults_.delay);
  const Nanoseconds extra{late ? static_cast<std::int64_t>(random_() % 9000) : 0};
  flights_.emplace(now + kFlightTime + extra, Flight{&to, packet});
}

void LossyPair::put_on_link(End& to, const bench::Packet& packet) {
  if (chance(faults_.lose)) return;
  fly(to, packet);
  if (chance(faults_.duplicate)) fly(to, packet);
}

void LossyPair::work(End& end, End& peer) {
  do {
    while (end.queue_pair.wants_pump()) end.queue_pair.pump(now, 16);
    end_batch(end, now);
  } while (end.queue_pair.wants_pump());
  for (const bench::SentPacket& packet : end.host.sent) {
    const bool request = wire::traits(packet.headers.bth.opcode).request;
    put_on_link(peer, {packet.headers, packet.payload, end.queue_pair.selective_acks(request)});
  }
  end.host.sent.clear();
}

void LossyPair::deliver(const Flight& flight) {
  flight.to->queue_pair.receive(flight.packet.inbound(), now);
  end_batch(*flight.to, now);  // the payload lives until here
}

bool LossyPair::run(std::uint32_t limit) {
  for (std::uint32_t events = 0; events < limit; ++events) {
    left.queue_pair.doorbell(now);
    right.queue_pair.doorbell(now);
    work(left, right);
    work(right, left);
    std::optional<Time> next;
    const auto consider = [&next](Time time) { next = next ? std::min(*next, time) : time; };
    if (!flights_.empty()) consider(flights_.begin()->first);
    if (!actions_.empty()) consider(actions_.begin()->first);
    for (End* end : {&left, &right}) {
      if (const auto deadline = end->queue_pair.deadline()) consider(*deadline);
    }
    if (!next) return true;
    now = std::max(now, *next);
    for (End* end : {&left, &right}) {
      if (const auto deadline = end->queue_pair.deadline(); deadline && *deadline <= now) {
        end->queue_pair.on_timer(now);
      }
    }
    while (!actions_.empty() && actions_.begin()->first <= now) {
      const auto action = std::move(actions_.begin()->second);
      actions_.erase(actions_.begin());
      action();
    }
    while (!flights_.empty() && flights_.begin()->first <= now) {
      const Flight flight = std::move(flights_.begin()->second);
      flights_.erase(flights_.begin());
      deliver(flight);
    }
  }
  return false;
}

}  // namespace urnic::transport::requester_test
