// The same seed and plan give the same frames, byte for byte and to the nanosecond.
#include <boost/test/unit_test.hpp>

#include "tests/unit/fault/planned_ports.hpp"

namespace urnic::fault::test {

using transport::Nanoseconds;

namespace {

const std::string kPlan =
    "[[fault]]\nevery = 7\naction = \"drop\"\n"
    "[[fault]]\nevery = 11\naction = \"corrupt_before_icrc\"\nbits = [100, 200]\n"
    "[[fault]]\ntransmission = 2\naction = \"delay\"\ndelay_us = 3\n"
    "[[fault]]\nqp_ordinal = 2\nevery = 13\naction = \"reorder\"\nbehind_packets = 3\n"
    "[[fault]]\nevery = 17\naction = \"nak\"\n";

// All that observers and receivers see, in order, with its time.
std::vector<std::byte> run(std::uint64_t seed) {
  PlannedPorts ports(kPlan);
  const link::LinkSettings settings{.rate_gbps = 10,
                                    .delay = Nanoseconds(5000),
                                    .jitter = Nanoseconds(3000),
                                    .loss = 0.05,
                                    .burst_start = 0.01,
                                    .duplicate = 0.05,
                                    .reorder = 0.05,
                                    .corrupt = 0.05,
                                    .ecn_threshold_packets = 3,
                                    .seed = seed};
  ports.frame_switch.link(0).configure(link::Direction::transmit, settings);
  ports.frame_switch.link(1).configure(link::Direction::receive, settings);
  std::vector<std::byte> all;
  const auto collect = [&] {
    for (const auto& seen : ports.observer.all) {
      const std::string note = std::to_string(ports.now.time_since_epoch().count()) +
                               std::to_string(static_cast<int>(seen.point)) + seen.remarks;
      for (const char letter : note) all.push_back(static_cast<std::byte>(letter));
      all.insert(all.end(), seen.bytes.begin(), seen.bytes.end());
    }
    ports.observer.all.clear();
  };
  for (std::uint32_t i = 0; i < 2000; ++i) {
    ports.send({.psn = i % 500, .traffic_class = 2}, 1 + i % 3);
    if (i % 5 == 0) ports.advance(700);
    collect();
  }
  for (int i = 0; i < 200; ++i) {
    ports.advance(1000);
    collect();
  }
  return all;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(repeat)

BOOST_AUTO_TEST_CASE(the_same_seed_and_plan_give_the_same_bytes) {
  const auto first = run(42);
  BOOST_TEST(first.size() > 100'000);
  BOOST_TEST((first == run(42)));
  BOOST_TEST((first != run(43)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::fault::test
