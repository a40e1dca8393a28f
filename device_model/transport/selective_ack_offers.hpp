// When a reliable QP tells a peer outside of this process that it knows selective acks, by a packet that only
// another urnic understands (docs/selective-acks.md).
//
// A QP asks only after a loss, when selective acks would be of use, and less and less often while nobody
// answers: at the first, second, fourth, eighth, ... loss. So a connection without loss carries nothing that
// the specification does not define, and a stranger hears few of these packets, which it drops.
#pragma once

#include <bit>
#include <cstdint>

namespace urnic::transport {

class SelectiveAckOffers {
 public:
  // Another peer, of which nothing is known.
  void forget_peer() { *this = {}; }

  // A packet of a peer outside was lost that selective acks would have told of.
  void missed_packet() {
    if (asks_ && std::has_single_bit(++losses_)) owed_ = true;
  }
  // The peer has made an offer. `wants_answer`: it does not know this side's.
  void heard(bool wants_answer) {
    talks_ = true;
    asks_ = false;
    owed_ = wants_answer;
  }
  // What this side does has changed: a peer that talks must learn of it.
  void changed() {
    if (!talks_) return;
    asks_ = owed_ = true;
    losses_ = 0;
  }
  // The peer gives selective acks although this side reads none: it has missed the last offer.
  void misunderstood() { owed_ = talks_; }

  // An offer is to be sent, which asks for an answer if `asks`.
  bool owed() const { return owed_; }
  bool asks() const { return asks_; }
  void sent() { owed_ = false; }

 private:
  bool owed_ = false;
  bool asks_ = true;    // nothing was heard since this side's offer last changed
  bool talks_ = false;  // the peer is another urnic
  std::uint32_t losses_ = 0;
};

}  // namespace urnic::transport
