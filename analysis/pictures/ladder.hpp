// The ladder of a connection: two ends, time that runs down, and an arrow for each packet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/flows/connections.hpp"
#include "analysis/flows/flow_tracker.hpp"

namespace urnic::analysis {

enum class ArrowKind : std::uint8_t {
  request,
  retransmission,
  acknowledgement,
  nak,
  response,  // to a READ or an atomic
  other,
};

struct LadderArrow {
  FrameNumber number = 0;
  std::int64_t sent = 0;     // nanoseconds since the capture's first packet
  std::int64_t arrived = 0;  // likewise; as `sent` if it was not seen
  bool from_left = false;
  bool is_lost = false;  // ends in a cross
  bool arrival_is_seen = false;
  ArrowKind kind = ArrowKind::other;
  std::uint32_t overtaken_by = 0;  // packets of this direction that were sent later and have arrived earlier
  std::string label;               // "47 Send Middle 6820633"
  std::string remark;              // what is not ordinary; may be empty
};

struct Ladder {
  std::string left;  // the ends
  std::string right;
  std::int64_t begin = 0;           // nanoseconds since the Unix epoch
  std::vector<LadderArrow> arrows;  // in the order of sending
  std::size_t left_out = 0;         // further packets, because there would be more than `most`
};

struct LadderChoice {
  std::int64_t from = INT64_MIN;  // nanoseconds since the Unix epoch, both inclusive
  std::int64_t to = INT64_MAX;
  std::size_t most = SIZE_MAX;  // arrows
};

// Of the packets that the tracker still has.
Ladder ladder_of(const FlowTracker& tracker, const Connection& connection, const LadderChoice& choice);

}  // namespace urnic::analysis
