#include "device_model/transport/requester/requester.hpp"

#include <algorithm>

namespace urnic::transport {

Requester::Requester(SharedState& shared_state)
    : shared_(shared_state),
      window_(shared_state.config.send_slots),
      window_packets_(std::clamp(shared_state.config.window_packets, 1u, kMaxOutstandingPsns - 1)),
      congestion_window_(std::clamp(shared_state.config.congestion_window_packets, 1u, window_packets_)),
      // Four times a window, so that the window moves on before it is used up: how often AckReq is set is the
      // requester's choice (IBTA 9.7.2).
      ack_interval_(std::max(1u, congestion_window_ / 4)) {
  use(shared_state.config.recovery);
}

// The old recovery still knows about the packets under way: the new one takes over when all are acknowledged.
void Requester::use(const RecoverySettings& settings) {
  next_recovery_ = make_loss_recovery(settings, window_packets_);
  next_reads_selective_acks_ = transport::reads_selective_acks(settings.mode);
  take_next_recovery();
}

void Requester::take_next_recovery() {
  if (!next_recovery_ || in_flight() != 0) return;
  recovery_ = std::move(next_recovery_);
  selective_ = recovery_->selective();
  if (selective_ != nullptr) selective_->set_ack_timeout(ack_timer_.interval());
  recovery_->start(next_new_);
  if (selective_acks_.recovery_reads() != next_reads_selective_acks_) shared_.offers.changed();
  selective_acks_.set_recovery_reads(next_reads_selective_acks_);
  recovery_->peer_gives(selective_acks_.peer());
}

void Requester::peer_offers(bool gives) {
  selective_acks_.told(gives);
  recovery_->peer_gives(selective_acks_.peer());
}

void Requester::reset() {
  window_.clear();
  ack_timer_.stop();
  started_ = false;
  unconfirmed_.reset();
  unacknowledged_ = next_new_ = executed_until_ = response_expected_until_ = cut_end_ = PacketNumber();
  take_next_recovery();
  recovery_->start(next_new_);
  recovery_->peer_gives(selective_acks_.peer());
  last_message_ = wire::Msn();
  reads_.clear();
  implied_nak_taken_ = false;
  timed_out_packet_waits_ = false;
  flow_control_.start();
  rnr_wait_.end();
}

void Requester::start(Time now) {
  reset();
  started_ = true;
  first_psn_ = shared_.parameters.send_psn;
  path_mtu_ = shared_.parameters.path_mtu;
  if (control_ != nullptr) begin_anew(now);
  parameters_changed(now);
}

void Requester::parameters_changed(Time now) {
  retries_.reload(shared_.parameters);
  ack_timer_.set_code(shared_.parameters.timeout);
  if (selective_ != nullptr) selective_->set_ack_timeout(ack_timer_.interval());
  if (ack_timer_.running()) ack_timer_.start(now);
}

std::optional<Time> Requester::deadline() const {
  if (!running()) return std::nullopt;
  if (in_flight() == 0) return rnr_wait_.is_on() ? rnr_wait_.deadline() : flow_control_.deadline();
  std::optional<Time> earliest = ack_timer_.deadline();
  const auto consider = [&](const std::optional<Time>& other) {
    if (other && (!earliest || *other < *earliest)) earliest = other;
  };
  consider(rnr_wait_.deadline());
  consider(flow_control_.deadline());
  if (selective_ != nullptr && !rnr_wait_.is_on()) consider(selective_->wake(nothing_new_for_suspects()));
  return earliest;
}

void Requester::on_timer(Time now) {
  if (!running()) return;
  rnr_wait_.on_timer(now);
  flow_control_.on_timer(now);
  if (selective_ != nullptr && !rnr_wait_.is_on()) wake_recovery(now);
  if (ack_timer_.expired(now)) ack_timeout(now);
}

void Requester::wake_recovery(Time now) {
  const bool nothing_new = nothing_new_for_suspects();
  const std::optional<Time> wake = selective_->wake(nothing_new);
  if (!wake || now < *wake) return;
  const bool had_nothing = !selective_->resend(1);
  selective_->woken(overdue(), nothing_new, now);
  shared_.config.counters->adaptive_retransmissions += had_nothing && selective_->resend(1);
}

}  // namespace urnic::transport
