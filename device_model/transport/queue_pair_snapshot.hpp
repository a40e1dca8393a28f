// The state of a queue pair at one moment, for status displays. Nothing here changes the queue pair.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/congestion_snapshot.hpp"
#include "device_model/transport/queue_pair_config.hpp"
#include "device_model/transport/recovery_settings.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

// Of a reliable connection's requester.
struct RequesterSnapshot {
  RecoveryMode recovery = RecoveryMode::gbn;
  wire::Psn next_psn;                        // of the next new packet
  wire::Psn unacknowledged_psn;              // of the oldest packet that is not acknowledged
  std::uint32_t in_flight = 0;               // PSNs sent and not acknowledged
  std::uint32_t arrived_ahead = 0;           // of those in flight, known to have arrived out of order
  std::uint32_t lost = 0;                    // of those in flight, judged lost and not sent again yet
  std::uint32_t window = 0;                  // most packets that may not have arrived, READ responses aside
  std::uint32_t reads_under_way = 0;         // READs and atomics
  std::uint32_t transport_retries = 0;       // used up since the last progress
  bool waits_for_receive = false;            // after an RNR NAK
  bool waits_for_credit = false;             // the next new packet has no credit
  bool selective_acks = false;               // the peer gives them, and they are read
  bool peer_is_stranger = false;             // it is outside of this process, and has not offered any
  std::optional<Nanoseconds> ack_timeout{};  // empty: the local ACK timer is off
  CongestionSnapshot congestion{};
};

// Of a reliable connection's responder.
struct ResponderSnapshot {
  wire::Psn expected_psn;
  wire::Msn msn;          // of the message completed last
  bool has_hole = false;  // packets behind the expected one are held
  bool owes_responses = false;
};

struct QueuePairSnapshot {
  QpState state = QpState::reset;
  wire::Qpn destination;  // of a connected QP
  bool reliable = false;  // the next two are filled in
  RequesterSnapshot requester;
  ResponderSnapshot responder;
  std::optional<Time> deadline{};  // of its timer; empty: it is off
};

}  // namespace urnic::transport
