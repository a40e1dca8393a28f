// What a queue pair is doing, packet by packet, for a person who looks at one queue pair. A snapshot
// (queue_pair_snapshot.hpp) has the sums. Filling it in allocates and walks through all packets under way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

// Packets in a row of which the same is known.
struct PsnSpan {
  enum class Kind : std::uint8_t {
    in_flight,      // sent; nothing is known of it
    lost,           // to be sent again
    arrived_ahead,  // the peer has it, but not all before it
    not_sent,       // of a request that was taken
    held,           // here: it has arrived ahead of the expected one
  };
  Kind kind = Kind::in_flight;
  wire::Psn first;
  std::uint32_t count = 0;
};

// Spans in one detail, at most: a person cannot tell more apart.
inline constexpr std::size_t kMostPsnSpans = 512;

// Appends `count` packets from `first` on: to the last span if they continue it. Without effect once there
// are kMostPsnSpans.
inline void append(std::vector<PsnSpan>& spans, PsnSpan::Kind kind, wire::Psn first, std::uint32_t count) {
  if (count == 0) return;
  if (!spans.empty() && spans.back().kind == kind && spans.back().first + spans.back().count == first) {
    spans.back().count += count;
  } else if (spans.size() < kMostPsnSpans) {
    spans.push_back({kind, first, count});
  }
}

// A timer that runs.
struct RunningTimer {
  enum class Kind : std::uint8_t {
    local_ack,  // IBTA 9.7.6.1.3
    rnr,        // after an RNR NAK
    credit,     // until a packet without a credit may ask for one
    recovery,   // the loss recovery's own: a probe, or a verdict on packets that were overtaken
  };
  Kind kind = Kind::local_ack;
  Time deadline;
};

// A send request that was taken and is not complete.
struct RequestUnderWay {
  std::uint32_t index = 0;    // free-running place in the send queue
  wire::Psn first;            //
  std::uint32_t packets = 0;  // PSNs that it takes; 0 for local operations
  wire::Msn message;          // its send sequence number; 0 for local operations
};

struct RequesterDetail {
  std::vector<PsnSpan> packets;  // from the oldest that is not acknowledged to the last of a request taken
  std::vector<RunningTimer> timers;
  std::vector<RequestUnderWay> requests;  // oldest first
  std::uint32_t oldest = 0;               // free-running places in the send queue: the first not complete,
  std::uint32_t sending = 0;              // the one of which the next new packet is,
  std::uint32_t taken = 0;                // and behind the last that was taken
  // Messages that the peer has room for, beyond those sent; empty: it gives no credits (IBTA 9.7.7.2).
  std::optional<std::int32_t> credits{};
  std::optional<std::uint32_t> retries_left{};      // empty: no peer yet
  std::optional<std::uint32_t> rnr_retries_left{};  // empty: without limit
  std::optional<Nanoseconds> round_trip{};          // smoothed; empty: not measured
};

struct ResponderDetail {
  std::vector<PsnSpan> held;
  std::optional<std::uint32_t> credits{};  // receives that it tells the peer of; empty: it gives no credits
};

struct QueuePairDetail {
  RequesterDetail requester;
  ResponderDetail responder;
};

}  // namespace urnic::transport
