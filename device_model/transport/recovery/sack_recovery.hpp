// The default: selective acks say what has arrived, and a packet is lost when one that was *sent* a little
// later has arrived. The send order decides, not the number, so a lost retransmission is found without a
// timeout, too (as RACK does for TCP, RFC 8985).
//
// New packets are sent all the time, as far as the window reaches: nothing waits for a hole to be filled.
#pragma once

#include "device_model/transport/recovery/selective_recovery.hpp"

namespace urnic::transport {

class SackRecovery final : public SelectiveRecovery {
 public:
  using SelectiveRecovery::SelectiveRecovery;

  void acknowledged(PacketNumber until, Source source, Time now) override;
  bool arrived(PacketRange packets, Source source, Time now) override;
  // Towards a peer that gives none it behaves as its base: without reports, the send order shows nothing.
  void peer_gives(SelectiveAcks selective_acks) override;
};

}  // namespace urnic::transport
