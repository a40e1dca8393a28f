#include "analysis/pictures/psn_plot.hpp"

#include <algorithm>
#include <optional>

#include "analysis/dissection/selective_ack_ranges.hpp"

namespace urnic::analysis {
namespace {

// PSNs as numbers that do not wrap.
class PsnCounter {
 public:
  std::int64_t count(wire::Psn psn) {
    if (!last_) {
      last_ = psn;
      return 0;
    }
    const std::int64_t value = value_ + distance(*last_, psn);
    // Follows the newest PSN, so that nothing is ever half the number space away.
    if (value > value_) {
      value_ = value;
      last_ = psn;
    }
    return value;
  }
  bool has_begun() const { return last_.has_value(); }

 private:
  std::optional<wire::Psn> last_;
  std::int64_t value_ = 0;
};

bool is_chosen(const Packet& packet, const LadderChoice& choice) {
  return packet.sent >= choice.from && packet.sent <= choice.to;
}

class PlotMaker {
 public:
  PlotMaker(FlowIndex requests, FlowIndex answers, std::int64_t zero)
      : requests_(requests), answers_(answers), zero_(zero) {}

  void add(const Packet& packet) {
    if (packet.flow == kNoFlow || packet.order == Order::copy) return;
    if (packet.flow == requests_ && (packet.role == Role::request || packet.role == Role::datagram))
      add_request(packet);
    if (packet.flow == answers_ && packet.role == Role::response && psns_.has_begun()) add_answer(packet);
  }

  PsnPlot take() {
    std::stable_sort(plot_.points.begin(), plot_.points.end(),
                     [](const PlotPoint& a, const PlotPoint& b) { return a.time < b.time; });
    std::stable_sort(plot_.acknowledged.begin(), plot_.acknowledged.end(),
                     [](const AcknowledgedStep& a, const AcknowledgedStep& b) { return a.time < b.time; });
    return std::move(plot_);
  }

 private:
  void add_request(const Packet& packet) {
    if (!psns_.has_begun()) plot_.first_psn = packet.psn.value();
    const PointKind kind = is_lost(packet.fate)                    ? PointKind::lost
                           : packet.order == Order::retransmission ? PointKind::retransmitted
                                                                   : PointKind::sent;
    put(packet.sent, psns_.count(packet.psn), kind);
  }

  void add_answer(const Packet& packet) {
    const std::int64_t psn = psns_.count(packet.psn);
    const std::int64_t time = packet.arrived != 0 ? packet.arrived : packet.sent;
    const bool is_response = packet.answer == Answer::read_response;
    if (is_lost(packet.fate)) {
      put(packet.sent, psn, PointKind::lost);
      return;
    }
    if (is_response) {
      put(time, psn, packet.order == Order::repeated ? PointKind::retransmitted : PointKind::response);
    } else if (packet.answer != Answer::acknowledge && packet.answer != Answer::atomic_response) {
      put(time, psn, PointKind::nak);
    }
    if (packet.answer == Answer::selective) add_reported(packet, time);
    if (packet.answer == Answer::none || packet.acks == 0) return;
    const bool names_next =
        packet.answer != Answer::acknowledge && packet.answer != Answer::atomic_response && !is_response;
    plot_.acknowledged.push_back({time - zero_, names_next ? psn : psn + 1});
  }

  void add_reported(const Packet& packet, std::int64_t time) {
    const wire::SelectiveAckEth header{.latest = packet.latest, .earlier = packet.earlier};
    for (const PsnRange& range : selective_ack_ranges(packet.psn, header))
      for (wire::Psn psn = range.first; distance(psn, range.last) >= 0; ++psn)
        put(time, psns_.count(psn), PointKind::reported);
  }

  void put(std::int64_t time, std::int64_t psn, PointKind kind) {
    plot_.points.push_back({time - zero_, psn, kind});
    plot_.psns = std::max(plot_.psns, psn + 1);
  }

  FlowIndex requests_;
  FlowIndex answers_;
  std::int64_t zero_;  // the capture's first packet
  PsnCounter psns_;
  PsnPlot plot_;
};

// All have the same time, so that they can be compared.
void set_time(std::vector<PsnPlot>& plots) {
  std::int64_t begin = INT64_MAX;
  std::int64_t end = INT64_MIN;
  const auto include = [&](std::int64_t time) {
    begin = std::min(begin, time);
    end = std::max(end, time);
  };
  for (const PsnPlot& plot : plots) {
    for (const PlotPoint& point : plot.points) include(point.time);
    for (const AcknowledgedStep& step : plot.acknowledged) include(step.time);
  }
  for (PsnPlot& plot : plots) {
    plot.begin = begin;
    plot.end = end;
  }
}

}  // namespace

std::vector<PsnPlot> psn_plots(const FlowTracker& tracker, const Connection& connection,
                               const LadderChoice& choice) {
  PlotMaker left(connection.from_left, connection.from_right, tracker.first_time());
  PlotMaker right(connection.from_right, connection.from_left, tracker.first_time());
  const PacketStore& packets = tracker.packets();
  for (PacketId id = packets.begin(); id < packets.end(); ++id) {
    if (!is_chosen(packets[id], choice)) continue;
    left.add(packets[id]);
    right.add(packets[id]);
  }
  std::vector<PsnPlot> plots;
  for (PlotMaker* const maker : {&left, &right}) {
    PsnPlot plot = maker->take();
    if (plot.points.empty()) continue;
    plot.from = maker == &left ? left_end(tracker, connection) : right_end(tracker, connection);
    plot.to = maker == &left ? right_end(tracker, connection) : left_end(tracker, connection);
    plots.push_back(std::move(plot));
  }
  set_time(plots);
  return plots;
}

}  // namespace urnic::analysis
