// Whether a connection's requester gets selective acks: its recovery must read them, and the peer give them
// (docs/selective-acks.md). In the same process the peer's first response shows what the peer does: by then
// it has had a request. A peer outside of this process gives none until it has said so.
#pragma once

#include "device_model/transport/selective_acks.hpp"

namespace urnic::transport {

class SelectiveAckAgreement {
 public:
  // The recovery in force reads selective acks, or does not. A peer that gave none may have been told that
  // this side read none.
  void set_recovery_reads(bool reads) {
    if (reads && !recovery_reads_ && peer_ == SelectiveAcks::no) peer_ = SelectiveAcks::unknown;
    recovery_reads_ = reads;
  }
  // Another peer, of which nothing is known.
  void forget_peer() { peer_ = SelectiveAcks::unknown; }

  // What comes with a response. True if this is the first that tells of the peer.
  bool learn(SelectiveAcks gives) {
    if (peer_ != SelectiveAcks::unknown) return false;
    peer_ = gives;
    return gives != SelectiveAcks::unknown;
  }
  // A peer outside of this process has said whether it gives them.
  void told(bool gives) { peer_ = gives ? SelectiveAcks::yes : SelectiveAcks::no; }

  SelectiveAcks peer() const { return peer_; }
  bool recovery_reads() const { return recovery_reads_; }
  // What this side says with its requests.
  bool reads() const { return recovery_reads_ && !peer_gives_none(); }
  bool agreed() const { return recovery_reads_ && peer_gives(); }
  bool peer_gives() const { return peer_ == SelectiveAcks::yes; }
  bool peer_gives_none() const { return peer_ == SelectiveAcks::no || peer_is_stranger(); }
  // Of the peer nothing is known but what the specification asks of it.
  bool peer_is_stranger() const { return peer_ == SelectiveAcks::outside; }

 private:
  bool recovery_reads_ = false;
  SelectiveAcks peer_ = SelectiveAcks::unknown;
};

}  // namespace urnic::transport
