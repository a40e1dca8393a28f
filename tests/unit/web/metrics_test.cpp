// Counters in Prometheus's text format.
#include "web/server/metrics.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::web::test {
namespace {

Sample sample() {
  Sample now;
  now.status =
      parse_json(R"({"uptime_seconds":2.5,"engine":{"threads":1,"processor_seconds":0.25},"contexts":[]})");
  now.counters = parse_json(
      R"({"devices":{"urnic0":{"port_xmit_packets":12,"VL15_dropped":0,"link_tx_lost":3}},"switch":{"trunk_overruns":0}})");
  now.links = parse_json(
      R"({"links":{"urnic0":{"state":"up","tx":{"settings":{"loss":0.01}},"rx":{"settings":{"loss":0}}}}})");
  now.queue_pairs["urnic0/17"] =
      parse_json(R"({"device":"urnic0","state":"RTS","requester":{"in_flight":5}})");
  return now;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(metrics_text)

BOOST_AUTO_TEST_CASE(names_are_the_kernels_with_labels) {
  const std::string text = metrics(sample());
  for (const char* line : {"urnic_up 1\n", "urnic_port_xmit_packets_total{device=\"urnic0\"} 12\n",
                           "urnic_vl15_dropped_total{device=\"urnic0\"} 0\n",
                           "urnic_link_lost_total{device=\"urnic0\",direction=\"tx\"} 3\n",
                           "urnic_switch_trunk_overruns_total 0\n",
                           "urnic_link_setting_loss{device=\"urnic0\",direction=\"tx\"} 0.01\n",
                           "urnic_queue_pairs{device=\"urnic0\",state=\"RTS\"} 1\n",
                           "# TYPE urnic_port_xmit_packets_total counter\n", "# TYPE urnic_up gauge\n"})
    BOOST_TEST(text.find(line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(congestion_control_is_summed_over_queue_pairs_that_send) {
  Sample now = sample();
  now.status["devices"] = parse_json(R"([{"name":"urnic0"},{"name":"urnic1"}])");
  now.queue_pairs["urnic0/18"] = parse_json(
      R"({"device":"urnic0","requester":{"in_flight":1,"congestion":{"algorithm":"dcqcn","rate_gbps":1.5}}})");
  now.queue_pairs["urnic0/19"] = parse_json(
      R"({"device":"urnic0","wants_to_send":true,"requester":{"in_flight":0,"congestion":{"algorithm":"dcqcn","rate_gbps":0.5}}})");
  now.queue_pairs["urnic0/20"] = parse_json(
      R"({"device":"urnic0","requester":{"in_flight":0,"congestion":{"algorithm":"dcqcn","rate_gbps":100}}})");
  now.queue_pairs["urnic0/21"] = parse_json(
      R"({"device":"urnic0","requester":{"in_flight":2,"congestion":{"algorithm":"rtt","rate_gbps":null,"window_bytes":4096}}})");
  now.queue_pairs["urnic0/22"] =
      parse_json(R"({"device":"urnic0","requester":{"in_flight":2,"congestion":null}})");
  const std::string text = metrics(now);
  for (const char* line : {"urnic_congestion_queue_pairs{device=\"urnic0\",algorithm=\"dcqcn\"} 2\n",
                           "urnic_congestion_queue_pairs{device=\"urnic0\",algorithm=\"rtt\"} 1\n",
                           "urnic_congestion_queue_pairs{device=\"urnic1\",algorithm=\"timely\"} 0\n",
                           "urnic_congestion_rate_gbps{device=\"urnic0\"} 2.0\n",
                           "urnic_congestion_rate_gbps{device=\"urnic1\"} 0.0\n",
                           "urnic_congestion_window_bytes{device=\"urnic0\"} 4096\n"})
    BOOST_TEST(text.find(line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(without_a_device_process_only_that_is_told) {
  BOOST_TEST(metrics({}) ==
             "# HELP urnic_up 1 if a device process runs.\n# TYPE urnic_up gauge\nurnic_up 0\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::web::test
