// End-to-end credits as the requester sees them (IBTA 9.7.7.2): how many messages that consume a receive WQE
// the responder has room for.
#pragma once

#include <cstdint>

#include "wire/aeth.hpp"
#include "wire/headers.hpp"

namespace urnic::transport {

class SendCredits {
 public:
  // Before the first acknowledgement nothing is known: the first message is already a probe.
  void start() {
    limit_ = wire::Msn{0};
    unlimited_ = false;
  }

  // The AETH of a positive acknowledgement. The limit sequence number is the responder's MSN plus its credits
  // and never moves back, because responses can arrive late (IBTA 9.7.7.2.3).
  void update(const wire::Aeth& aeth) {
    const std::uint8_t code = wire::code(aeth.syndrome);
    unlimited_ = code == wire::kInvalidCreditCode;
    if (unlimited_) return;
    const wire::Msn limit{(aeth.msn.value + wire::credits_from_code(code)) & 0xFFFFFF};
    if (distance(limit_, limit) > 0) limit_ = limit;
  }

  // Whether the message with this send sequence number (the first message has 1) has a credit.
  bool allow(wire::Msn message) const { return unlimited_ || distance(message, limit_) >= 0; }

 private:
  static std::int32_t distance(wire::Msn from, wire::Msn to) {
    return static_cast<std::int32_t>((to.value - from.value) << 8) >> 8;
  }

  wire::Msn limit_;
  bool unlimited_ = false;
};

}  // namespace urnic::transport
