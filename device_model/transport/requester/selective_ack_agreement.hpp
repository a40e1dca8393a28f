// Whether a connection's requester gets selective acks: its recovery must read them, and the peer give them
// (docs/selective-acks.md). The peer's first response shows what the peer does: by then it has had a request.
#pragma once

#include "device_model/transport/selective_acks.hpp"

namespace urnic::transport {

class SelectiveAckAgreement {
 public:
  // The recovery in force reads selective acks, or does not.
  void set_recovery_reads(bool reads) { recovery_reads_ = reads; }
  // Another peer, of which nothing is known.
  void forget_peer() { peer_ = SelectiveAcks::unknown; }

  // What comes with a response. True if this shows, for the first time, that the peer gives none.
  bool learn(SelectiveAcks gives) {
    if (!recovery_reads_ || peer_ != SelectiveAcks::unknown) return false;
    peer_ = gives;
    return peer_gives_none();
  }

  // What this side says with its requests.
  bool reads() const { return recovery_reads_ && !peer_gives_none(); }
  bool peer_gives() const { return peer_ == SelectiveAcks::yes; }
  bool peer_gives_none() const { return peer_ == SelectiveAcks::no; }

 private:
  bool recovery_reads_ = false;
  SelectiveAcks peer_ = SelectiveAcks::unknown;
};

}  // namespace urnic::transport
