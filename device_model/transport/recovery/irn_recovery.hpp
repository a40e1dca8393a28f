// The sender of IRN (Mittal et al., SIGCOMM 2018): with the first hole that is reported it enters recovery
// and sends each hole below the highest packet that has arrived once; it leaves when everything that had been
// sent at the start of the recovery is acknowledged. New packets are sent only within one bandwidth-delay
// product of the first that is not acknowledged. What is lost again is found by one of two timeouts.
//
// The paper's two ends are of one make, and their timeouts are fixed. A stranger may be slower: it is given
// the time that its answers take.
#pragma once

#include "device_model/transport/recovery/probe_timer.hpp"
#include "device_model/transport/recovery/scoreboard_recovery.hpp"

namespace urnic::transport {

class IrnRecovery final : public ScoreboardRecovery {
 public:
  IrnRecovery(const RecoverySettings& settings, std::uint32_t window)
      : ScoreboardRecovery(window), settings_(settings) {}

  void start(PacketNumber first) override;
  void sent(PacketRange packets, bool asks, Time now) override;
  void acknowledged(PacketNumber until, Source source, Time now) override;
  void missing(PacketRange missing, Time now) override;
  void refused(PacketRange packets, Time now) override;
  void timed_out(const Overdue& overdue, Time now) override;
  void discarded(PacketNumber from) override;
  void truncate(PacketNumber end) override;
  bool arrived(PacketRange packets, Source source, Time now) override;
  void put_off(PacketRange packets, Time now) override;
  void resume(PacketRange packets) override;
  void answered_twice(PacketNumber packet, Time now) override;
  void set_ack_timeout(Nanoseconds interval) override { probe_.set_longest(interval / kProbesPerTimeout); }
  void peer_gives(SelectiveAcks selective_acks) override;
  std::optional<PacketRange> resend(std::uint32_t most) const override;
  bool may_send_new(std::uint64_t in_flight) const override { return in_flight < settings_.irn_window; }
  // As in the paper: what is acknowledged must follow closely, or the cap stops a sender that loses nothing.
  std::uint32_t ack_interval() const override { return 1; }
  std::optional<Time> wake(bool nothing_new) const override;
  void woken(const Overdue& overdue, bool nothing_new, Time now) override;

 private:
  void enter_recovery(PacketNumber first_missing);
  void skip_what_has_arrived();
  void progress(Time now);

  const RecoverySettings settings_;
  bool recovering_ = false;
  PacketNumber recovery_end_;     // beyond all that was sent when the recovery began
  PacketNumber next_hole_;        // holes below have been sent again in this recovery
  PacketNumber asked_until_;      // a stranger's timeout sends only the oldest of the holes below again
  PacketNumber highest_arrived_;  // beyond the highest packet that has arrived
  Time last_progress_;
  ProbeTimer probe_;  // of a stranger
};

}  // namespace urnic::transport
