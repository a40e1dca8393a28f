// The sender of IRN (Mittal et al., SIGCOMM 2018): with the first hole that is reported it enters recovery
// and sends each hole below the highest packet that has arrived once; it leaves when everything that had been
// sent at the start of the recovery is acknowledged. New packets are sent only within one bandwidth-delay
// product of the first that is not acknowledged. What is lost again is found by one of two timeouts.
#pragma once

#include "device_model/transport/loss_recovery.hpp"
#include "device_model/transport/scoreboard.hpp"

namespace urnic::transport {

class IrnRecovery final : public LossRecovery {
 public:
  IrnRecovery(const RecoverySettings& settings, std::uint32_t window) : settings_(settings), board_(window) {}

  void start(PacketNumber first) override;
  void sent(PacketRange packets, bool asks, Time now) override;
  void acknowledged(PacketNumber until, Source source, Time now) override;
  void missing(PacketRange missing, Time now) override;
  void refused(PacketRange packets, Time now) override;
  void timed_out(PacketRange oldest, Time now) override;
  void discarded(PacketNumber from) override;
  void truncate(PacketNumber end) override;
  bool keeps_out_of_order() const override { return true; }
  bool covers(PacketNumber packet) const override { return board_.covers(packet); }
  bool has_arrived(PacketNumber packet) const override { return board_.has_arrived(packet); }
  void arrived(PacketNumber packet, Source source, Time now) override;
  PacketNumber first_missing(PacketNumber from, PacketNumber limit) const override {
    return board_.first_missing(from, limit);
  }
  std::optional<PacketRange> resend() const override;
  bool may_send_new(std::uint64_t in_flight) const override { return in_flight < settings_.irn_window; }
  // As in the paper: what is acknowledged must follow closely, or the cap stops a sender that loses nothing.
  std::uint32_t ack_interval() const override { return 1; }
  std::optional<Time> wake() const override;
  void woken(PacketRange oldest, PacketRange newest, Time now) override;

 private:
  void enter_recovery(PacketNumber first_missing);
  void skip_what_has_arrived();

  const RecoverySettings settings_;
  Scoreboard board_;
  bool recovering_ = false;
  PacketNumber recovery_end_;     // beyond all that was sent when the recovery began
  PacketNumber next_hole_;        // holes below have been sent again in this recovery
  PacketNumber highest_arrived_;  // beyond the highest packet that has arrived
  Time last_progress_;
};

}  // namespace urnic::transport
