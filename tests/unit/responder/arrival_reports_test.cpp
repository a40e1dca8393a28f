#define BOOST_TEST_DYN_LINK
#include "device_model/transport/responder/arrival_reports.hpp"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include <vector>

#include "tests/unit/transport_bench/packets.hpp"

using namespace urnic;
using namespace urnic::transport;
using namespace urnic::transport::bench;
using wire::Psn;

namespace {

struct Arrivals {
  ReorderPool pool{8192};
  ReceiveWindow window{&pool, 8192};
  ArrivalReports reports;

  Arrivals() { window.start(Psn(0)); }

  void arrive(std::uint32_t psn) {
    BOOST_REQUIRE(window.hold(rc_packet(wire::Operation::send_middle, psn).inbound(), 1));
    reports.arrived(Psn(psn));
  }

  // The `latest` of every report.
  std::vector<std::uint32_t> take_all() {
    std::vector<std::uint32_t> latest;
    while (const auto report = reports.take(window)) {
      latest.push_back(report->latest.value());
      told.insert(report->latest.value());
      for (std::uint32_t bit = 0; bit < 64; ++bit) {
        if ((report->earlier >> bit & 1) != 0) told.insert((report->latest - (1 + bit)).value());
      }
    }
    return latest;
  }

  std::set<std::uint32_t> told;
};

using List = std::vector<std::uint32_t>;

}  // namespace

BOOST_FIXTURE_TEST_SUITE(arrival_reports, Arrivals)

BOOST_AUTO_TEST_CASE(arrivals_that_fit_half_a_header_are_one_report) {
  for (std::uint32_t psn = 5; psn < 5 + 33; ++psn) arrive(psn);
  BOOST_CHECK((take_all() == List{37}));
  BOOST_CHECK(told.contains(5));
  BOOST_CHECK(reports.empty());
}

BOOST_AUTO_TEST_CASE(many_in_a_row_are_in_two_reports_each) {
  for (std::uint32_t psn = 5; psn < 5 + 99; ++psn) arrive(psn);
  BOOST_CHECK((take_all() == List{37, 70, 103}));  // each tells 64 more
}

BOOST_AUTO_TEST_CASE(one_that_does_not_fit_gets_a_report_of_its_own) {
  for (const std::uint32_t psn : {5u, 70u, 71u, 6u}) arrive(psn);
  BOOST_CHECK((take_all() == List{6, 71}));
  for (const std::uint32_t psn : {5u, 6u, 70u, 71u}) BOOST_CHECK(told.contains(psn));
}

BOOST_AUTO_TEST_CASE(a_filled_gap_is_reported_apart_from_what_is_far_ahead) {
  for (const std::uint32_t psn : {100u, 101u, 102u}) arrive(psn);
  take_all();
  arrive(300);
  arrive(2);
  arrive(301);
  BOOST_CHECK((take_all() == List{301, 2}));
}

BOOST_AUTO_TEST_CASE(nothing_is_forgotten_however_many_there_are) {
  std::minstd_rand chance(7);
  for (int round = 0; round < 200; ++round) {
    std::set<std::uint32_t> given;
    const std::size_t count = 1 + chance() % 60;
    while (given.size() < count) {
      const auto psn = static_cast<std::uint32_t>(1 + chance() % 3000);
      if (given.insert(psn).second) arrive(psn);
    }
    told.clear();
    const List latest = take_all();
    for (const std::uint32_t psn : given) BOOST_REQUIRE(told.contains(psn));
    BOOST_REQUIRE_LE(latest.size(), 2 * count);
    window.start(Psn(0));
    pool.batch_flushed();
  }
}

BOOST_AUTO_TEST_CASE(one_that_came_again_is_the_latest_of_a_report) {
  arrive(3);
  reports.arrived_again(Psn(0xFFFFFF));
  reports.arrived_again(Psn(0xFFFFFF));
  BOOST_CHECK((take_all() == List{3, 0xFFFFFF}));
}

BOOST_AUTO_TEST_CASE(many_that_came_again_do_not_push_new_ones_out) {
  for (std::uint32_t psn = 0xFFFF00; psn < 0xFFFF40; ++psn) reports.arrived_again(Psn(psn));
  for (const std::uint32_t psn : {10u, 500u, 1000u, 2000u}) arrive(psn);
  take_all();
  for (const std::uint32_t psn : {10u, 500u, 1000u, 2000u}) BOOST_CHECK(told.contains(psn));
}

BOOST_AUTO_TEST_CASE(what_has_been_executed_since_needs_no_report) {
  for (const std::uint32_t psn : {5u, 6u, 90u, 200u}) arrive(psn);
  reports.forget_before(Psn(91));
  BOOST_CHECK((take_all() == List{200}));
  for (const std::uint32_t psn : {300u, 310u}) arrive(psn);
  reports.forget_before(Psn(305));
  BOOST_CHECK((take_all() == List{310}));
}

BOOST_AUTO_TEST_SUITE_END()
