// Loss recovery as the specification has it: after a loss everything from the missing packet on is sent
// again, in order (IBTA 9.7.5.1.2, 9.7.6.1.2).
#pragma once

#include "device_model/transport/recovery/loss_recovery.hpp"

namespace urnic::transport {

class GbnRecovery final : public LossRecovery {
 public:
  void start(PacketNumber first) override;
  void sent(PacketRange packets, bool asks, Time now) override;
  void acknowledged(PacketNumber until, Source source, Time now) override;
  void missing(PacketRange missing, Time now) override;
  void timed_out(PacketRange oldest, Time now) override;
  void discarded(PacketNumber from) override;
  void truncate(PacketNumber end) override;
  std::optional<PacketRange> resend(std::uint32_t most) const override;

 private:
  PacketNumber next_;  // to be sent next
  PacketNumber high_;  // beyond all that was sent
};

}  // namespace urnic::transport
