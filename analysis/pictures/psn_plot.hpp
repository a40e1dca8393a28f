// PSN over time: what everybody draws by hand to see a connection recover.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/flows/connections.hpp"
#include "analysis/flows/flow_tracker.hpp"
#include "analysis/pictures/ladder.hpp"

namespace urnic::analysis {

enum class PointKind : std::uint8_t {
  sent,
  retransmitted,
  lost,
  response,  // to a READ, at the PSN that it answers
  nak,       // at the PSN that it names
  reported,  // by a selective acknowledge
};

// Time in nanoseconds since the capture's first packet; the PSN counts from the plot's first one.
struct PlotPoint {
  std::int64_t time = 0;
  std::int64_t psn = 0;
  PointKind kind = PointKind::sent;
};

// From this time on all before this PSN is acknowledged.
struct AcknowledgedStep {
  std::int64_t time = 0;
  std::int64_t psn = 0;
};

// The requests of one end, and what the other end answers.
struct PsnPlot {
  std::string from;
  std::string to;
  std::uint32_t first_psn = 0;
  std::int64_t begin =
      0;  // the connection's first and last time: nanoseconds since the capture's first packet
  std::int64_t end = 0;
  std::int64_t psns = 0;
  std::vector<PlotPoint> points;  // in the order of time
  std::vector<AcknowledgedStep> acknowledged;
};

// One plot for each end that sends requests; at most two, of the same time. Of the packets that the tracker
// still has.
std::vector<PsnPlot> psn_plots(const FlowTracker& tracker, const Connection& connection,
                               const LadderChoice& choice);

struct PlotStyle {
  static constexpr int kNarrowest = 400;
  int width = 900;   // pixels; at least kNarrowest are taken
  int height = 420;  // of each plot
};

// Points that would lie on the same pixel are drawn once, so a million packets make a small file.
std::string draw_svg(const std::vector<PsnPlot>& plots, const PlotStyle& style);

}  // namespace urnic::analysis
