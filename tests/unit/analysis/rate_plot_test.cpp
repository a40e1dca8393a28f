// The rates of flows over time: what counts, when, and how it is drawn.
#include "analysis/pictures/rate_plot.hpp"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "tests/unit/analysis/traffic.hpp"

namespace urnic::analysis::test {
namespace rate_plots {

RatePlot plot_of(Traffic& traffic, const RateChoice& choice = {}) {
  traffic.tracker().finish();
  return rate_plot(traffic.tracker(), connections_of(traffic.tracker()), choice);
}

std::size_t count(const RateFlow& flow, RateEvent event) {
  std::size_t found = 0;
  for (const RateMark& mark : flow.marks) found += mark.event == event ? 1 : 0;
  return found;
}

// Bits of all frames, by the rates.
double bits(const RatePlot& plot, const RateFlow& flow) {
  double sum = 0;
  for (const double rate : flow.rates) sum += rate * static_cast<double>(plot.interval) / 1e9;
  return sum;
}

// A packet is lost, the receiver asks for it, and tells of congestion.
void tell(Traffic& traffic) {
  traffic.sends(10, 11);
  traffic.lose = true;
  traffic.send(12);
  traffic.lose = false;
  traffic.send(13);
  traffic.nak(12);
  traffic.notification();
  traffic.sends(12, 13);
  traffic.ack(13);
}

BOOST_AUTO_TEST_SUITE(rate_plots)

BOOST_AUTO_TEST_CASE(data_count_and_answers_do_not) {
  for (const Where where : {Where::every_point, Where::at_sender}) {
    Traffic traffic(where);
    tell(traffic);
    const RatePlot plot = plot_of(traffic);
    BOOST_REQUIRE(plot.flows.size() == 1u);
    const RateFlow& flow = plot.flows[0];
    BOOST_TEST(flow.from == "192.0.2.1 QP 0x11");
    BOOST_TEST(flow.to == "192.0.2.2 QP 0x22");
    const std::uint32_t frame = traffic.packet(1).frame_bytes;
    BOOST_TEST(flow.bytes == 6u * frame);
    BOOST_TEST(bits(plot, flow) == 6.0 * 8 * frame, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(count(flow, RateEvent::notification) == 1u);
    BOOST_TEST(count(flow, RateEvent::lost) == 1u);
    BOOST_TEST(count(flow, RateEvent::retransmitted) == 2u);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_notification_makes_nobody_slower) {
  Traffic traffic(Where::every_point);
  ordinary(traffic);
  traffic.lose = true;
  traffic.notification();
  BOOST_TEST(plot_of(traffic).flows.at(0).marks.empty());
}

BOOST_AUTO_TEST_CASE(packets_count_to_the_interval_in_which_they_were_sent) {
  Traffic traffic(Where::at_sender);
  traffic.sends(10, 12);
  for (std::uint32_t psn = 13; psn < 16; ++psn) traffic.ack(10);  // nothing is sent meanwhile
  traffic.sends(13, 15);
  traffic.ack(15);
  const RatePlot plot = plot_of(traffic, {.packets = {}, .interval = 3 * Traffic::kStep});
  BOOST_REQUIRE(plot.flows.size() == 1u);
  const double full = 3.0 * 8 * traffic.packet(1).frame_bytes / (3e-9 * Traffic::kStep);
  const std::vector<double>& rates = plot.flows[0].rates;
  BOOST_REQUIRE(rates.size() == 3u);
  BOOST_TEST(rates[0] == full, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(rates[1] == 0);
  BOOST_TEST(rates[2] == full, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(plot.end() - plot.begin == 9 * Traffic::kStep);
}

BOOST_AUTO_TEST_CASE(times_choose_packets_and_bound_intervals) {
  Traffic traffic(Where::at_sender);
  traffic.sends(0, 40'000);
  const RatePlot whole = plot_of(traffic, {.packets = {}, .interval = 1});
  BOOST_TEST(whole.flows.at(0).rates.size() <= static_cast<std::size_t>(RateChoice::kMostIntervals));
  const LadderChoice first{.from = INT64_MIN, .to = Traffic::kStart + 4 * Traffic::kStep};
  BOOST_TEST(plot_of(traffic, {.packets = first, .interval = 0}).flows.at(0).bytes ==
             4u * traffic.packet(1).frame_bytes);
  const LadderChoice none{.from = Traffic::kStart - 2, .to = Traffic::kStart - 1};
  BOOST_TEST(plot_of(traffic, {.packets = none, .interval = 0}).flows.empty());
}

BOOST_AUTO_TEST_CASE(of_many_flows_those_with_most_bytes_are_drawn) {
  Traffic traffic(Where::at_sender);
  constexpr std::size_t kFlows = RateChoice::kMostFlows + 3;
  for (std::uint32_t i = 0; i < kFlows; ++i) {
    traffic.qp_of_a = 0x100 + i;
    traffic.qp_of_b = 0x200 + i;
    traffic.sends(0, i % 2);
    traffic.ack(i % 2);
  }
  const RatePlot plot = plot_of(traffic);
  BOOST_TEST(plot.flows.size() == RateChoice::kMostFlows);
  BOOST_TEST(plot.left_out == 3u);
  std::size_t large = 0;
  for (const RateFlow& flow : plot.flows) large += flow.bytes > traffic.packet(1).frame_bytes ? 1 : 0;
  BOOST_TEST(large == kFlows / 2);
}

BOOST_AUTO_TEST_CASE(the_longest_time_that_a_capture_may_have_is_no_harm) {
  Traffic traffic(Where::at_sender);
  const wire::test::Bytes frame =
      traffic.frame(traffic.headers_of(wire::Operation::send_only, 1, true), 16, true);
  FlowTracker tracker;
  const std::vector<CaptureInterface> interfaces(1);
  for (const std::int64_t time :
       {std::int64_t{0}, Traffic::kStart, std::int64_t{0xFFFF'FFFF} * 1'000'000'000})
    tracker.add({.number = tracker.records() + 1,
                 .nanoseconds = time,
                 .interface = 0,
                 .original_bytes = static_cast<std::uint32_t>(frame.size()),
                 .bytes = frame,
                 .comment = {}},
                interfaces);
  const RatePlot plot = rate_plot(tracker, connections_of(tracker), {});
  for (const RateFlow& flow : plot.flows)
    BOOST_TEST(flow.rates.size() <= static_cast<std::size_t>(RateChoice::kMostIntervals));
}

BOOST_AUTO_TEST_CASE(an_svg_has_a_line_for_each_flow_and_says_what_it_shows) {
  Traffic traffic(Where::every_point);
  tell(traffic);
  const std::string svg = draw_svg(plot_of(traffic), PlotStyle{.width = 600, .height = 240});
  BOOST_TEST(svg.find("Marks show 1 congestion notifications, 1 lost packets, 2 that were sent again.") !=
             std::string::npos);
  BOOST_TEST(svg.find(">192.0.2.1 QP 0x11 to 192.0.2.2 QP 0x22<") != std::string::npos);
  BOOST_TEST(svg.find("<path class=\"mark notification\" d=\"M") != std::string::npos);
  BOOST_TEST(svg.find('$') == std::string::npos);
  BOOST_TEST(svg.find("nan") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace rate_plots
}  // namespace urnic::analysis::test
