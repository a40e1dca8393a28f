// Packets that are held for others to pass.
#include "device_model/link/held_behind.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

namespace urnic::link::test {

namespace held_behind {

using transport::Nanoseconds;
using transport::Time;

constexpr Time at(int nanoseconds) { return Time(Nanoseconds(nanoseconds)); }

struct Bench {
  HeldBehind<char> held{8};
  std::string released;

  auto note() {
    return [this](const HeldBehind<char>::Released& packet) {
      released += packet.item + std::to_string(packet.due.time_since_epoch().count()) + ' ';
    };
  }
  void pass(int due) { held.passed(at(due), note()); }
  void expire(int now) { held.expire(at(now), note()); }
};

}  // namespace held_behind

BOOST_FIXTURE_TEST_SUITE(held_behind, Bench)

BOOST_AUTO_TEST_CASE(a_packet_follows_the_nth_that_passes) {
  held.hold('x', 2, at(0), at(1000));
  pass(10);
  BOOST_TEST(released == "");
  pass(20);
  BOOST_TEST(released == "x20 ");
  BOOST_TEST(held.empty());
}

BOOST_AUTO_TEST_CASE(a_packet_does_not_arrive_before_its_own_time) {
  held.hold('x', 1, at(50), at(1000));
  pass(10);
  BOOST_TEST(released == "x50 ");
}

BOOST_AUTO_TEST_CASE(a_packet_does_not_arrive_after_its_latest_time) {
  held.hold('x', 1, at(0), at(50));
  pass(60);
  BOOST_TEST(released == "x50 ");
}

BOOST_AUTO_TEST_CASE(packets_that_wait_for_the_same_one_follow_in_their_order) {
  held.hold('x', 2, at(0), at(1000));
  held.hold('y', 1, at(0), at(1000));
  held.hold('z', 2, at(0), at(1000));
  pass(10);
  pass(20);
  BOOST_TEST(released == "y10 x20 z20 ");
}

BOOST_AUTO_TEST_CASE(a_packet_that_nobody_follows_is_released_at_its_latest) {
  held.hold('x', 2, at(0), at(50));
  held.hold('y', 2, at(0), at(40));
  BOOST_TEST((held.earliest() == at(40)));
  expire(39);
  BOOST_TEST(released == "");
  expire(50);
  BOOST_TEST(released == "x50 y40 ");
  BOOST_TEST(!held.earliest());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
