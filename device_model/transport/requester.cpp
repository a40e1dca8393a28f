#include "device_model/transport/requester.hpp"

#include <algorithm>

#include "device_model/transport/requester_impl.hpp"

namespace urnic::transport {

Requester::Impl::Impl(SharedState& shared_state)
    : shared(shared_state),
      window(shared_state.config.send_slots),
      window_packets(std::clamp(shared_state.config.window_packets, 1u, kMaxOutstandingPsns - 1)),
      // Four times a window, so that the window moves on before it is used up: how often AckReq is set is the
      // requester's choice (IBTA 9.7.2).
      ack_interval(std::max(1u, window_packets / 4)) {
  use(shared_state.config.recovery);
}

// Forgets nothing of what is under way: the new sender policy takes over once all of it is acknowledged.
void Requester::Impl::use(const RecoverySettings& settings) {
  next_recovery = make_loss_recovery(settings, window_packets);
  next_offering = offers_selective_ack(settings.mode);
  take_next_recovery();
}

void Requester::Impl::take_next_recovery() {
  if (!next_recovery || in_flight() != 0) return;
  recovery = std::move(next_recovery);
  recovery->set_ack_timeout(ack_timer.interval());
  recovery->start(next_new);
  offering = next_offering && participation != Participation::no;
  if (participation == Participation::no) recovery->peer_takes_no_part();
}

void Requester::Impl::reset() {
  window.clear();
  ack_timer.stop();
  started = false;
  unacknowledged = next_new = executed_until = response_expected_until = cut_end = PacketNumber();
  participation = Participation::unknown;
  refused_request.reset();
  take_next_recovery();
  recovery->start(next_new);
  offering = next_offering;
  last_message = wire::Msn();
  reads_under_way = 0;
  implied_nak_taken = false;
  timed_out_packet_waits = false;
  probe.reset();
  rnr_until.reset();
}

void Requester::Impl::start(Time now) {
  reset();
  started = true;
  first_psn = shared.parameters.send_psn;
  path_mtu = shared.parameters.path_mtu;
  credits.start();
  parameters_changed(now);
}

void Requester::Impl::parameters_changed(Time now) {
  retries.reload(shared.parameters);
  ack_timer.set_code(shared.parameters.timeout);
  recovery->set_ack_timeout(ack_timer.interval());
  if (ack_timer.running()) ack_timer.start(now);
}

std::optional<Time> Requester::Impl::deadline() const {
  if (!running()) return std::nullopt;
  std::optional<Time> earliest;
  if (!rnr_until) earliest = recovery->wake();
  for (const std::optional<Time>& other : {ack_timer.deadline(), rnr_until}) {
    if (other && (!earliest || *other < *earliest)) earliest = other;
  }
  return earliest;
}

void Requester::Impl::on_timer(Time now) {
  if (!running()) return;
  if (rnr_until && now >= *rnr_until) rnr_until.reset();
  if (!rnr_until) {
    const std::optional<Time> wake = recovery->wake();
    if (wake && now >= *wake) recovery->woken(oldest_missing(), newest_missing(), now);
  }
  if (ack_timer.expired(now)) ack_timeout(now);
}

Requester::Requester(SharedState& shared) : impl_(std::make_unique<Impl>(shared)) {}
Requester::~Requester() = default;
void Requester::reset() { impl_->reset(); }
void Requester::start(Time now) { impl_->start(now); }
void Requester::parameters_changed(Time now) { impl_->parameters_changed(now); }
// The queue itself says what was posted, when it is pumped.
void Requester::doorbell(Time) {}
void Requester::receive(const InboundPacket& packet, Time now) { impl_->receive(packet, now); }
std::uint32_t Requester::pump(Time now, std::uint32_t packets) { return impl_->pump(now, packets); }
bool Requester::wants_pump() const { return impl_->wants_pump(); }
bool Requester::must_send_again() const { return impl_->must_send_again(); }
std::uint32_t Requester::pump_again(Time now, std::uint32_t packets) {
  return impl_->pump_again(now, packets);
}
std::optional<Time> Requester::deadline() const { return impl_->deadline(); }
void Requester::on_timer(Time now) { impl_->on_timer(now); }
void Requester::memory_failed(const AccessTag& tag, Time now) { impl_->memory_failed(tag, now); }
void Requester::use(const RecoverySettings& settings) { impl_->use(settings); }
void Requester::flush() { impl_->flush(); }
bool Requester::idle() const { return impl_->window.none_incomplete(); }

}  // namespace urnic::transport
