// What is known of request packets under way.
#define BOOST_TEST_DYN_LINK
#include "device_model/transport/congestion/flight_record.hpp"

#include <boost/test/unit_test.hpp>

using namespace urnic::transport;

namespace {

constexpr Nanoseconds kNone{0};

PacketNumber number(std::uint64_t value) { return PacketNumber(value); }
Time when(std::int64_t nanoseconds) { return Time{Nanoseconds(nanoseconds)}; }

struct Record : FlightRecord {
  Record() : FlightRecord(8) {
    for (std::uint64_t i = 0; i < 4; ++i) sent(number(i), 100, when(static_cast<std::int64_t>(i)));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(flight_record, Record)

BOOST_AUTO_TEST_CASE(an_acknowledgement_takes_packets_out_and_measures_the_last) {
  const auto taken = acknowledge(number(3), when(50));
  BOOST_TEST(taken.bytes == 300u);
  BOOST_TEST((taken.round_trip == Nanoseconds(48)));
  BOOST_TEST(bytes() == 100u);
}

// Karn's rule (RFC 6298, section 3).
BOOST_AUTO_TEST_CASE(a_packet_that_was_sent_twice_measures_nothing) {
  sent_again({number(2), 1});
  BOOST_TEST((acknowledge(number(3), when(50)).round_trip == kNone));
  BOOST_TEST((acknowledge(number(4), when(51)).round_trip == Nanoseconds(48)));
}

BOOST_AUTO_TEST_CASE(packets_that_may_not_have_left_measure_nothing) {
  discarded(number(1));
  BOOST_TEST((acknowledge(number(1), when(50)).round_trip == Nanoseconds(50)));
  BOOST_TEST((acknowledge(number(2), when(51)).round_trip == kNone));
}

BOOST_AUTO_TEST_CASE(packets_that_are_taken_back_do_not_count) {
  truncate(number(2));
  BOOST_TEST(bytes() == 200u);
  sent(number(2), 10, when(60));
  BOOST_TEST(acknowledge(number(3), when(70)).bytes == 210u);
}

BOOST_AUTO_TEST_CASE(an_early_arrival_measures_and_stays) {
  BOOST_TEST((round_trip_of(number(3), when(20)) == Nanoseconds(17)));
  BOOST_TEST((round_trip_of(number(9), when(20)) == kNone));
  BOOST_TEST(bytes() == 400u);
}

// The numbers of a READ's responses have no packets here.
BOOST_AUTO_TEST_CASE(numbers_may_have_gaps) {
  sent(number(1'000'000), 7, when(10));
  BOOST_TEST(acknowledge(number(500'000), when(20)).bytes == 400u);
  BOOST_TEST(acknowledge(number(1'000'001), when(30)).bytes == 7u);
  BOOST_TEST(bytes() == 0u);
}

BOOST_AUTO_TEST_CASE(what_has_no_room_is_not_counted) {
  for (std::uint64_t i = 4; i < 20; ++i) sent(number(i), 100, when(0));
  BOOST_TEST(bytes() == 800u);
  BOOST_TEST(acknowledge(number(20), when(1)).bytes == 800u);
}

BOOST_AUTO_TEST_SUITE_END()
