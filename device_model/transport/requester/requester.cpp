#include "device_model/transport/requester/requester.hpp"

#include <algorithm>

namespace urnic::transport {

Requester::Requester(SharedState& shared_state)
    : shared_(shared_state),
      window_(shared_state.config.send_slots),
      window_packets_(std::clamp(shared_state.config.window_packets, 1u, kMaxOutstandingPsns - 1)),
      // Four times a window, so that the window moves on before it is used up: how often AckReq is set is the
      // requester's choice (IBTA 9.7.2).
      ack_interval_(std::max(1u, window_packets_ / 4)) {
  use(shared_state.config.recovery);
}

// Forgets nothing of what is under way: the new sender policy takes over once all of it is acknowledged.
void Requester::use(const RecoverySettings& settings) {
  next_recovery_ = make_loss_recovery(settings, window_packets_);
  next_reads_ = transport::reads_selective_acks(settings.mode);
  take_next_recovery();
}

void Requester::take_next_recovery() {
  if (!next_recovery_ || in_flight() != 0) return;
  recovery_ = std::move(next_recovery_);
  recovery_->set_ack_timeout(ack_timer_.interval());
  recovery_->start(next_new_);
  reads_ = next_reads_ && participation_ != SelectiveAcks::no;
  if (participation_ == SelectiveAcks::no) recovery_->peer_takes_no_part();
}

void Requester::reset() {
  window_.clear();
  ack_timer_.stop();
  started_ = false;
  unacknowledged_ = next_new_ = executed_until_ = response_expected_until_ = cut_end_ = PacketNumber();
  participation_ = SelectiveAcks::unknown;
  refused_request_.reset();
  take_next_recovery();
  recovery_->start(next_new_);
  reads_ = next_reads_;
  last_message_ = wire::Msn();
  reads_under_way_ = 0;
  implied_nak_taken_ = false;
  timed_out_packet_waits_ = false;
  probe_.reset();
  rnr_until_.reset();
  probe_from_.reset();
}

void Requester::start(Time now) {
  reset();
  started_ = true;
  first_psn_ = shared_.parameters.send_psn;
  path_mtu_ = shared_.parameters.path_mtu;
  credits_.start();
  parameters_changed(now);
}

void Requester::parameters_changed(Time now) {
  retries_.reload(shared_.parameters);
  ack_timer_.set_code(shared_.parameters.timeout);
  recovery_->set_ack_timeout(ack_timer_.interval());
  if (ack_timer_.running()) ack_timer_.start(now);
}

std::optional<Time> Requester::deadline() const {
  if (!running()) return std::nullopt;
  if (in_flight() == 0) return rnr_until_ ? rnr_until_ : probe_from_;
  std::optional<Time> earliest;
  if (!rnr_until_) earliest = recovery_->wake(nothing_new_for_suspects());
  for (const std::optional<Time>& other : {ack_timer_.deadline(), rnr_until_, probe_from_}) {
    if (other && (!earliest || *other < *earliest)) earliest = other;
  }
  return earliest;
}

void Requester::on_timer(Time now) {
  if (!running()) return;
  if (rnr_until_ && now >= *rnr_until_) rnr_until_.reset();
  if (probe_from_ && now >= *probe_from_) probe_from_.reset();
  if (!rnr_until_) {
    const bool nothing_new = nothing_new_for_suspects();
    const std::optional<Time> wake = recovery_->wake(nothing_new);
    if (wake && now >= *wake) recovery_->woken(oldest_missing(), newest_missing(), nothing_new, now);
  }
  if (ack_timer_.expired(now)) ack_timeout(now);
}

}  // namespace urnic::transport
