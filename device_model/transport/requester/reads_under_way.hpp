// How many READs and atomics are sent and not complete. One that is answered ahead of an earlier one counts:
// the responder keeps the results of the latest only (IBTA 9.7.4.1.4), and the earlier one may be asked for
// again.
#pragma once

#include <cstdint>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/requester/send_window.hpp"
#include "device_model/transport/segmentation.hpp"

namespace urnic::transport {

class ReadsUnderWay {
 public:
  void clear() { count_ = 0; }
  bool none() const { return count_ == 0; }
  std::uint32_t count() const { return count_; }
  // One more may be sent to a peer that holds `most` (QpParameters::max_reads).
  bool has_room(std::uint32_t most) const { return count_ < most; }

  // The first packet of `request` was sent; the request is complete.
  void sent(const SendRequest& request) {
    if (is_read_or_atomic(request.opcode)) ++count_;
  }
  void completed(const SendRequest& request) {
    if (is_read_or_atomic(request.opcode)) --count_;
  }

  // After requests have been taken back: counts those that are not acknowledged.
  void recount(const SendWindow& window, PacketNumber unacknowledged) {
    count_ = 0;
    for (std::uint32_t index = window.oldest(); index != window.sending(); ++index) {
      const SendSlot& slot = window.at(index);
      if (unacknowledged < slot.end()) sent(slot.request);
    }
  }

 private:
  std::uint32_t count_ = 0;
};

}  // namespace urnic::transport
