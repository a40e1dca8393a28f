// How many packets a sender that goes back N keeps under way.
//
// What is under way behind a hole is dropped, and sent again: more than the usual distance between two holes
// would mostly be sent in vain, and a slow peer would have to take all of it. So after the first hole there
// is a limit. It must not stop a sender that has asked for no acknowledgement: kAckInterval.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device_model/transport/packet_number.hpp"

namespace urnic::transport {

class GoBackLimit {
 public:
  // While there is a limit, one in so many packets requests an acknowledgement. No more than the least limit.
  static constexpr std::uint32_t kAckInterval = 16;

  // Nothing is under way; the next packet will be `first`.
  void clear(PacketNumber first) {
    last_hole_ = first;
    distance_ = under_way_ = 0;
    is_on_ = false;
  }
  void sent(std::uint64_t packets) { under_way_ += packets; }
  void arrived(std::uint64_t packets) { under_way_ -= std::min(under_way_, packets); }
  // The peer misses `packet`: nothing behind it counts as under way.
  void hole(PacketNumber packet) {
    is_on_ = true;
    under_way_ = 0;
    if (packet <= last_hole_) return;
    const std::uint64_t distance = packet - last_hole_;
    distance_ = distance_ == 0 ? distance : distance_ - distance_ / 4 + distance / 4;
    last_hole_ = packet;
  }
  // Nothing comes back any more.
  void silence() { under_way_ = 0; }
  bool is_on() const { return is_on_; }
  // One more packet may leave; `unacknowledged` is the first that is not acknowledged.
  bool may_send(PacketNumber unacknowledged) const {
    const std::uint64_t since_last = unacknowledged > last_hole_ ? unacknowledged - last_hole_ : 0;
    return !is_on_ || under_way_ < std::max<std::uint64_t>({distance_, since_last, kAckInterval});
  }

 private:
  PacketNumber last_hole_;
  std::uint64_t distance_ = 0;  // usual one between two holes; 0: not known
  std::uint64_t under_way_ = 0;
  bool is_on_ = false;
};

}  // namespace urnic::transport
