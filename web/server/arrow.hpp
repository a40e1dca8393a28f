// A packet as an arrow of the page's ladder.
#pragma once

#include <cstdint>

#include "analysis/flows/flow_tracker.hpp"
#include "json/json.hpp"

namespace urnic::web {

// Where it is drawn: lane 0 is the queue pair that is looked at, lane 1 its peer. Times are told in
// microseconds from `zero` on (nanoseconds since the Unix epoch), since a number of JavaScript is too short
// for all digits.
struct ArrowPlace {
  bool to_first_lane = false;
  std::int64_t zero = 0;
};

// For page/ladder.js.
nlohmann::json arrow(const analysis::FlowTracker& tracker, const analysis::Packet& packet,
                     const ArrowPlace& place);

}  // namespace urnic::web
