// What a sender may send again on a guess. A peer without selective acks names one hole in a round trip.
// Where holes lie closer, they queue up: each is named only when the one before it is filled, the window
// closes, and the link is idle for most of a round trip. What follows the named hole may be missing, too, and
// costs nothing when it is sent then: the holes in it are filled before the peer comes to name them.
//
// Each packet is guessed once. Guesses change nothing of what is known: the peer still names what is missing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "device_model/transport/packet_number.hpp"

namespace urnic::transport {

class Guesses {
 public:
  // Nothing is under way; the next packet will be `first`.
  void clear(PacketNumber first) { first_ = next_ = end_ = first; }

  // The peer misses `hole`, which had left before it named the hole before that, as everything before
  // `sent_before`.
  void begin(PacketRange hole, PacketNumber sent_before) {
    if (next_ < hole.end()) first_ = next_ = hole.end();
    end_ = std::max(next_, std::min(sent_before, hole.end() + kMost));
  }
  // Until `begin`.
  void end() { end_ = next_; }
  // Everything before `until` has arrived.
  void acknowledged(PacketNumber until) {
    next_ = std::max(next_, until);
    end_ = std::max(end_, next_);
  }

  // The next guess; empty: none.
  std::optional<PacketNumber> next() const {
    if (next_ == end_) return std::nullopt;
    return next_;
  }
  // It has left.
  void sent() { next_ = next_ + 1; }
  // `packet` was guessed: what arrives may be the guess.
  bool contain(PacketNumber packet) const { return first_ <= packet && packet < next_; }

 private:
  // From a hole. In so many packets lie several holes wherever holes queue up; and as many, sent in vain, do
  // not keep the peer long from what it waits for.
  static constexpr std::uint32_t kMost = 64;

  PacketNumber first_;  // guessed so far: [first_, next_)
  PacketNumber next_;
  PacketNumber end_;
};

}  // namespace urnic::transport
