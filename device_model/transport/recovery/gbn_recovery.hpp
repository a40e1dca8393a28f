// Loss recovery as the specification has it: after a loss everything from the missing packet on is sent
// again, in order (IBTA 9.7.5.1.2, 9.7.6.1.2). A stranger, which may be slow, gets no more of it than it has
// use for.
#pragma once

#include "device_model/transport/recovery/go_back_limit.hpp"
#include "device_model/transport/recovery/loss_recovery.hpp"

namespace urnic::transport {

class GbnRecovery final : public LossRecovery {
 public:
  void start(PacketNumber first) override;
  void sent(PacketRange packets, bool asks, Time now) override;
  void acknowledged(PacketNumber until, Source source, Time now) override;
  void missing(PacketRange missing, Time now) override;
  void timed_out(const Overdue& overdue, Time now) override;
  void discarded(PacketNumber from) override;
  void truncate(PacketNumber end) override;
  void peer_gives(SelectiveAcks selective_acks) override {
    peer_is_stranger_ = selective_acks == SelectiveAcks::outside;
  }
  std::optional<PacketRange> resend(std::uint32_t most) const override;
  bool may_send_new(std::uint64_t) const override { return may_send(); }
  std::uint32_t ack_interval() const override {
    return peer_is_stranger_ && limit_.is_on() ? GoBackLimit::kAckInterval : 0;
  }

 private:
  bool may_send() const { return !peer_is_stranger_ || limit_.may_send(acknowledged_); }

  PacketNumber acknowledged_;  // beyond all that is
  PacketNumber next_;          // to be sent next
  PacketNumber high_;          // beyond all that was sent
  bool peer_is_stranger_ = false;
  GoBackLimit limit_;
};

}  // namespace urnic::transport
