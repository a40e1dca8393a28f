// Packets under way leave in order.
#include "device_model/link/due_queue.hpp"

#include <boost/test/unit_test.hpp>
#include <string>

namespace urnic::link::test {

namespace {

using transport::Nanoseconds;
using transport::Time;

constexpr Time at(int nanoseconds) { return Time(Nanoseconds(nanoseconds)); }

std::string take_all(DueQueue<char>& queue, int now) {
  std::string taken;
  while (const auto departure = queue.take_due(at(now))) taken += departure->item;
  return taken;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(due_queue)

BOOST_AUTO_TEST_CASE(leaves_by_time_then_by_arrival) {
  DueQueue<char> queue(8);
  BOOST_TEST(!queue.earliest());
  queue.push('c', at(30));
  queue.push('a', at(10));
  queue.push('b', at(10));
  BOOST_TEST((*queue.earliest() == at(10)));
  BOOST_TEST(take_all(queue, 9) == "");
  BOOST_TEST(take_all(queue, 10) == "ab");
  BOOST_TEST(take_all(queue, 100) == "c");
  BOOST_TEST(queue.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::link::test
