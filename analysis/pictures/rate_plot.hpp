// The rate of each flow over time: how senders share a line, and what makes them slower and faster.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/flows/connections.hpp"
#include "analysis/flows/flow_tracker.hpp"
#include "analysis/pictures/ladder.hpp"
#include "analysis/pictures/psn_plot.hpp"

namespace urnic::analysis {

enum class RateEvent : std::uint8_t {
  notification,   // of congestion: arrives at the flow's sender
  lost,           // a packet of the flow
  retransmitted,  // likewise
};

// Time in nanoseconds since the capture's first packet.
struct RateMark {
  std::int64_t time = 0;
  RateEvent event = RateEvent::lost;
};

// The data that one queue pair sends to another: requests with payload, and responses to READs. Not ACKs.
struct RateFlow {
  std::string from;
  std::string to;
  std::uint64_t bytes = 0;    // of all its frames
  std::vector<double> rates;  // in each interval, bits of frames in a second; lost ones count, too
  std::vector<RateMark> marks;
};

struct RatePlot {
  std::int64_t begin = 0;       // of the first interval: nanoseconds since the capture's first packet
  std::int64_t interval = 0;    // length of each, nanoseconds
  std::vector<RateFlow> flows;  // by their first packets
  std::size_t left_out = 0;     // flows with fewer bytes, because there would be more than kMostFlows

  std::int64_t end() const;
};

struct RateChoice {
  static constexpr std::size_t kMostFlows = 32;
  static constexpr std::int64_t kMostIntervals = 10'000;

  LadderChoice packets;
  // Nanoseconds; 0: the time is divided into 150. It becomes longer if there would be more than
  // kMostIntervals.
  std::int64_t interval = 0;
};

// The flows of these connections, without those that carry no data. Of the packets that the tracker still
// has.
RatePlot rate_plot(const FlowTracker& tracker, const std::vector<Connection>& connections,
                   const RateChoice& choice);

// One plot below the other, all with the same axes, so that they can be compared. `style.height` is of each.
std::string draw_svg(const RatePlot& plot, const PlotStyle& style);

}  // namespace urnic::analysis
