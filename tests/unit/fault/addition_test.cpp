// Rules that are added beside a plan, for a few packets.
#include <boost/test/unit_test.hpp>

#include "tests/unit/fault/planned_ports.hpp"

namespace urnic::fault::test {
namespace {

struct AddedRules : PlannedPorts {
  AddedRules() : PlannedPorts(rule("name = \"stays\"\npsn = 105\naction = \"drop\"")) {}

  bool add(const std::string& lines, std::uint64_t times) {
    FaultPlan::Addition addition(parse_plan(rule(lines), "added", kDevices), times);
    return plan.add(addition);
  }
  void send(std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t psn = from; psn <= to; ++psn) send_psn(psn);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(addition, AddedRules)

BOOST_AUTO_TEST_CASE(an_added_rule_acts_as_often_as_it_may_and_the_plan_stays) {
  BOOST_TEST(add("name = \"two\"\naction = \"drop\"", 2));
  send(100, 106);
  BOOST_TEST(arrived() == "102 103 104 106 ");
  BOOST_TEST(plan.states().at(0).name == "stays");
  BOOST_TEST(plan.states().at(0).matches == 1);
  BOOST_TEST(plan.states().at(1).matches == 2);
  BOOST_TEST(plan.states().at(1).times.value() == 2);
  BOOST_TEST(!plan.states().at(0).times.has_value());
}

BOOST_AUTO_TEST_CASE(a_rule_that_is_used_up_makes_room_for_the_next) {
  for (unsigned round = 0; round < 3 * FaultPlan::kMostAdded; ++round) {
    BOOST_REQUIRE(add("action = \"drop\"", 1));
    send_psn(round);
  }
  BOOST_TEST(arrived() == "");
  BOOST_TEST(plan.states().size() == 2);
}

BOOST_AUTO_TEST_CASE(there_is_room_for_a_few_that_wait) {
  for (std::size_t rule = 0; rule < FaultPlan::kMostAdded; ++rule)
    BOOST_REQUIRE(add("psn = 7\naction = \"drop\"", 1));
  BOOST_TEST(!add("psn = 8\naction = \"drop\"", 1));
  BOOST_TEST(plan.states().size() == 1 + FaultPlan::kMostAdded);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_was_stopped_stays_so) {
  BOOST_TEST(add("name = \"stop\"\npsn = 101\naction = \"stop_qp\"", 1));
  send(100, 103);
  BOOST_TEST(arrived() == "100 ");
  BOOST_TEST(add("psn = 9\naction = \"drop\"", 1));
  send(104, 104);
  BOOST_TEST(arrived() == "100 ");
  BOOST_TEST(remarks().find("rule \"stop\"") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::fault::test
