// At most one congestion notification to a peer in an interval.
#define BOOST_TEST_DYN_LINK
#include "device_model/engine/device/notified_peers.hpp"

#include <boost/test/unit_test.hpp>

namespace urnic::test {
namespace {

using transport::Nanoseconds;
using transport::Time;

constexpr Nanoseconds kInterval{50'000};

wire::Gid peer(unsigned number) {
  wire::Gid gid;
  gid.bytes[14] = static_cast<std::uint8_t>(number >> 8);
  gid.bytes[15] = static_cast<std::uint8_t>(number);
  return gid;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(notified_peers)

BOOST_AUTO_TEST_CASE(a_peer_has_its_turn_once_in_an_interval) {
  engine::NotifiedPeers peers;
  const Time now{Nanoseconds{1'000'000}};
  BOOST_TEST(peers.take_turn(peer(1), kInterval, now));
  BOOST_TEST(!peers.take_turn(peer(1), kInterval, now));
  BOOST_TEST(!peers.take_turn(peer(1), kInterval, now + kInterval - Nanoseconds{1}));
  BOOST_TEST(peers.take_turn(peer(1), kInterval, now + kInterval));
  BOOST_TEST(!peers.take_turn(peer(1), kInterval, now + kInterval));
}

BOOST_AUTO_TEST_CASE(no_peer_waits_for_another) {
  engine::NotifiedPeers peers;
  const Time now{Nanoseconds{1'000'000}};
  for (unsigned number = 0; number < 2000; ++number)
    BOOST_TEST(peers.take_turn(peer(number), kInterval, now), number);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::test
