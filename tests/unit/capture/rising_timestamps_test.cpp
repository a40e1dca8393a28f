#include "device_model/capture/rising_timestamps.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::capture::test {

BOOST_AUTO_TEST_SUITE(rising_timestamps)

BOOST_AUTO_TEST_CASE(follow_the_clock_and_never_stand_or_go_back) {
  RisingTimestamps timestamps;
  BOOST_TEST(timestamps.next(100) == 100);
  BOOST_TEST(timestamps.next(100) == 101);  // the clock stands still
  BOOST_TEST(timestamps.next(50) == 102);   // the clock was set back
  BOOST_TEST(timestamps.next(102) == 103);
  BOOST_TEST(timestamps.next(200) == 200);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::capture::test
