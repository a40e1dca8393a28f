// Which loss recovery a queue pair uses, and its settings. Chosen per device, link or QP; both ends may
// differ.
#pragma once

#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::transport {

enum class RecoveryMode : std::uint8_t {
  gbn,        // as in the specification: packets out of order are dropped and sent again
  selective,  // the specification's packets; only missing packets are sent again, one hole a round trip
  irn,        // selective acks, the sender of Mittal et al., SIGCOMM 2018
  sack        // selective acks, the sender of sack_recovery.hpp
};

// The responder holds packets that arrive out of order in every mode but gbn.
constexpr bool keeps_out_of_order(RecoveryMode mode) { return mode != RecoveryMode::gbn; }
// The requester reads selective acknowledgements (wire/headers.hpp).
constexpr bool reads_selective_acks(RecoveryMode mode) {
  return mode == RecoveryMode::irn || mode == RecoveryMode::sack;
}

struct RecoverySettings {
  RecoveryMode mode = RecoveryMode::sack;
  // How many later packets may overtake a packet before it counts as lost.
  std::uint32_t reordering = 8;
  // irn: most packets between the first that is not acknowledged and the newest (one bandwidth-delay
  // product).
  std::uint32_t irn_window = 128;
  Nanoseconds irn_timeout_low{100'000};   // while fewer than 3 packets are in flight
  Nanoseconds irn_timeout_high{320'000};  // otherwise
};

}  // namespace urnic::transport
