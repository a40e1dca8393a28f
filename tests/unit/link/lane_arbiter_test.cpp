// Virtual lanes of a port take turns as their tables say (IBTA 7.6.9).
#include "device_model/link/subnet_links/lane_arbiter.hpp"

#include <array>
#include <boost/test/unit_test.hpp>
#include <vector>

namespace urnic::link::test {
namespace {

constexpr std::size_t kPacket = 1024;

// What each lane sends of `packets`, if `ready` are ready all the time.
std::array<unsigned, kDataLanes> shares(LaneArbiter& arbiter, LaneSet ready, unsigned packets,
                                        std::size_t bytes = kPacket) {
  std::array<unsigned, kDataLanes> sent{};
  for (unsigned i = 0; i < packets; ++i) {
    ++sent.at(arbiter.choose(ready));
    arbiter.charge(bytes);
  }
  return sent;
}

LaneArbiter arbiter(std::vector<LaneWeight> high, std::vector<LaneWeight> low, std::uint8_t limit = 0) {
  LidOutput output;
  output.high = std::move(high);
  output.low = std::move(low);
  output.high_limit = limit;
  LaneArbiter made;
  made.configure(output);
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lane_arbiter)

BOOST_AUTO_TEST_CASE(without_tables_lanes_take_turns) {
  LaneArbiter none = arbiter({}, {{0, 0}, {3, 0}});
  const auto sent = shares(none, 0b1010'0000'0000'001, 300);
  BOOST_TEST(sent[0] == 100u);
  BOOST_TEST(sent[12] == 100u);
  BOOST_TEST(sent[14] == 100u);
}

BOOST_AUTO_TEST_CASE(weights_are_shares) {
  // 3 to 1, in two entries of the one lane.
  LaneArbiter weighted = arbiter({}, {{1, 64}, {0, 64}, {1, 128}});
  const auto sent = shares(weighted, 0b11, 400);
  BOOST_TEST(sent[0] == 100u);
  BOOST_TEST(sent[1] == 300u);
}

BOOST_AUTO_TEST_CASE(a_lane_that_is_not_ready_loses_its_turn) {
  LaneArbiter weighted = arbiter({}, {{1, 64}, {0, 64}});
  BOOST_TEST(shares(weighted, 0b01, 10)[0] == 10u);
  BOOST_TEST(shares(weighted, 0b10, 10)[1] == 10u);
}

// A weight of 64 bytes lets a packet of any length pass.
BOOST_AUTO_TEST_CASE(a_packet_may_be_longer_than_the_weight) {
  LaneArbiter weighted = arbiter({}, {{0, 1}, {1, 1}});
  const auto sent = shares(weighted, 0b11, 100, 4096);
  BOOST_TEST(sent[0] == 50u);
}

BOOST_AUTO_TEST_CASE(small_packets_count_as_whole_units) {
  LaneArbiter weighted = arbiter({}, {{0, 4}, {1, 4}});
  for (const unsigned lane : {0u, 0u, 0u, 0u, 1u, 1u, 1u, 1u, 0u}) {
    BOOST_TEST(unsigned{weighted.choose(0b11)} == lane);
    weighted.charge(20);
  }
}

// The limit: 4096 bytes of high priority, then a packet of low priority.
BOOST_AUTO_TEST_CASE(high_priority_goes_first_up_to_its_limit) {
  LaneArbiter limited = arbiter({{1, 255}}, {{0, 1}}, 1);
  const auto sent = shares(limited, 0b11, 500);
  BOOST_TEST(sent[1] == 400u);
  BOOST_TEST(sent[0] == 100u);
  LaneArbiter one_packet = arbiter({{1, 255}}, {{0, 1}}, 0);
  BOOST_TEST(shares(one_packet, 0b11, 100)[1] == 50u);
  LaneArbiter unlimited = arbiter({{1, 255}}, {{0, 1}}, 255);
  BOOST_TEST(shares(unlimited, 0b11, 1000)[1] == 1000u);
}

BOOST_AUTO_TEST_CASE(high_priority_alone_has_no_limit) {
  LaneArbiter limited = arbiter({{1, 255}}, {{0, 1}}, 1);
  BOOST_TEST(shares(limited, 0b10, 100)[1] == 100u);
}

// What high priority sent while nothing else was there does not count against it later.
BOOST_AUTO_TEST_CASE(a_limit_that_passed_unused_begins_anew) {
  LaneArbiter limited = arbiter({{1, 255}}, {{0, 1}}, 1);
  shares(limited, 0b10, 9);  // twice the limit, and a packet
  for (const unsigned lane : {1u, 1u, 1u, 0u, 1u}) {
    BOOST_TEST(unsigned{limited.choose(0b11)} == lane);
    limited.charge(kPacket);
  }
}

BOOST_AUTO_TEST_CASE(a_lane_of_no_table_sends_when_no_other_one_is_ready) {
  LaneArbiter weighted = arbiter({}, {{0, 1}});
  BOOST_TEST(shares(weighted, 0b101, 100)[2] == 0u);
  BOOST_TEST(shares(weighted, 0b100, 100)[2] == 100u);
}

// Another weight begins anew; what is the same changes nothing.
BOOST_AUTO_TEST_CASE(the_same_tables_do_not_begin_anew) {
  LidOutput output;
  output.low = {{0, 16}, {1, 16}};
  LaneArbiter weighted;
  weighted.configure(output);
  std::array<unsigned, 2> sent{};
  for (unsigned i = 0; i < 100; ++i) {
    weighted.configure(output);
    ++sent.at(weighted.choose(0b11));
    weighted.charge(kPacket);
  }
  BOOST_TEST(sent[0] == 50u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
