#include "analysis/pictures/rate_plot.hpp"

#include <algorithm>

namespace urnic::analysis {
namespace {

constexpr std::int64_t kIntervals = 150;
constexpr std::int64_t kShortestInterval = 1000;
constexpr std::size_t kNoPlace = ~std::size_t{0};

struct Period {
  std::int64_t first = INT64_MAX;  // nanoseconds since the Unix epoch
  std::int64_t last = INT64_MIN;

  bool is_empty() const { return first > last; }
};

bool is_within(const Packet& packet, const LadderChoice& choice) {
  return packet.flow != kNoFlow && packet.sent >= choice.from && packet.sent <= choice.to;
}

// A copy was made by the network: its sender has not sent it.
bool carries_data(const Packet& packet) {
  return packet.payload != 0 && packet.order != Order::copy && packet.role != Role::notification &&
         packet.role != Role::other;
}

class RateMaker {
 public:
  RateMaker(const FlowTracker& tracker, const RateChoice& choice)
      : tracker_(tracker), choice_(choice), places_(tracker.flows().size(), kNoPlace) {}

  RatePlot make(const std::vector<Connection>& connections) {
    for (const Connection& connection : connections) add_flows(connection);
    for_each_packet([this](const Packet& packet) { measure(packet); });
    if (span_.is_empty()) return {};
    set_intervals();
    for_each_packet([this](const Packet& packet) { add(packet); });
    leave_out();
    return std::move(plot_);
  }

 private:
  template <typename Function>
  void for_each_packet(Function function) const {
    const PacketStore& packets = tracker_.packets();
    for (PacketId id = packets.begin(); id < packets.end(); ++id)
      if (is_within(packets[id], choice_.packets)) function(packets[id]);
  }

  void add_flows(const Connection& connection) {
    const std::string left = left_end(tracker_, connection);
    const std::string right = right_end(tracker_, connection);
    add_flow(connection.from_left, left, right);
    add_flow(connection.from_right, right, left);
  }

  void add_flow(FlowIndex flow, const std::string& from, const std::string& to) {
    if (flow == kNoFlow) return;
    places_[flow] = plot_.flows.size();
    RateFlow added;
    added.from = from;
    added.to = to;
    plot_.flows.push_back(std::move(added));
  }

  RateFlow* flow_of(FlowIndex flow) {
    return flow == kNoFlow || places_[flow] == kNoPlace ? nullptr : &plot_.flows[places_[flow]];
  }

  void measure(const Packet& packet) {
    if (flow_of(packet.flow) == nullptr || !carries_data(packet)) return;
    span_.first = std::min(span_.first, packet.sent);
    span_.last = std::max(span_.last, packet.sent);
  }

  void set_intervals() {
    const std::int64_t length = span_.last - span_.first + 1;
    const std::int64_t wanted = choice_.interval > 0 ? choice_.interval : length / kIntervals + 1;
    plot_.begin = span_.first - tracker_.first_time();
    plot_.interval = std::max({wanted, length / RateChoice::kMostIntervals + 1, kShortestInterval});
    const auto count = static_cast<std::size_t>((length + plot_.interval - 1) / plot_.interval);
    for (RateFlow& flow : plot_.flows) flow.rates.resize(count);
  }

  void add(const Packet& packet) {
    if (packet.role == Role::notification) {
      add_notification(packet);
      return;
    }
    RateFlow* const flow = flow_of(packet.flow);
    if (flow == nullptr || !carries_data(packet)) return;
    const auto place = static_cast<std::size_t>((packet.sent - span_.first) / plot_.interval);
    flow->rates[place] += packet.frame_bytes * 8e9 / static_cast<double>(plot_.interval);
    flow->bytes += packet.frame_bytes;
    if (packet.order == Order::retransmission) mark(*flow, packet.sent, RateEvent::retransmitted);
    if (is_lost(packet.fate)) mark(*flow, packet.sent, RateEvent::lost);
  }

  // It is about the flow in the other direction.
  void add_notification(const Packet& packet) {
    RateFlow* const flow = flow_of(tracker_.flows()[packet.flow].opposite);
    if (flow == nullptr || is_lost(packet.fate)) return;
    mark(*flow, packet.arrived != 0 ? packet.arrived : packet.sent, RateEvent::notification);
  }

  void mark(RateFlow& flow, std::int64_t time, RateEvent event) {
    const std::int64_t inside = std::clamp(time, span_.first, span_.last);
    flow.marks.push_back({inside - tracker_.first_time(), event});
  }

  void leave_out() {
    std::vector<RateFlow>& flows = plot_.flows;
    const auto is_silent = [](const RateFlow& flow) { return flow.bytes == 0; };
    flows.erase(std::remove_if(flows.begin(), flows.end(), is_silent), flows.end());
    if (flows.size() <= RateChoice::kMostFlows) return;
    plot_.left_out = flows.size() - RateChoice::kMostFlows;
    std::vector<std::uint64_t> sizes;
    sizes.reserve(flows.size());
    for (const RateFlow& flow : flows) sizes.push_back(flow.bytes);
    std::sort(sizes.begin(), sizes.end());
    const std::uint64_t least = sizes[plot_.left_out];
    // Of flows of the same size the later ones go.
    const auto is_small = [least](const RateFlow& flow) { return flow.bytes < least; };
    flows.erase(std::remove_if(flows.begin(), flows.end(), is_small), flows.end());
    while (flows.size() > RateChoice::kMostFlows) {
      const auto last = std::find_if(flows.rbegin(), flows.rend(),
                                     [least](const RateFlow& flow) { return flow.bytes == least; });
      flows.erase(std::next(last).base());
    }
  }

  const FlowTracker& tracker_;
  const RateChoice& choice_;
  std::vector<std::size_t> places_;  // by FlowIndex: where in plot_.flows it is
  Period span_;
  RatePlot plot_;
};

}  // namespace

std::int64_t RatePlot::end() const {
  const std::size_t count = flows.empty() ? 0 : flows.front().rates.size();
  return begin + interval * static_cast<std::int64_t>(count);
}

RatePlot rate_plot(const FlowTracker& tracker, const std::vector<Connection>& connections,
                   const RateChoice& choice) {
  return RateMaker(tracker, choice).make(connections);
}

}  // namespace urnic::analysis
