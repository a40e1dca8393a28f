#define BOOST_TEST_DYN_LINK
#include "device_model/transport/response_queue.hpp"

#include <boost/test/unit_test.hpp>
#include <vector>

using namespace urnic;
using namespace urnic::transport;

namespace {

PendingResponse response(std::uint32_t first, std::uint32_t last) {
  PendingResponse made;
  made.next = wire::Psn(first);
  made.last = wire::Psn(last);
  return made;
}

// First and last PSNs of what is in the queue, which is emptied.
std::vector<std::pair<std::uint32_t, std::uint32_t>> drain(ResponseQueue& queue) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;
  for (; !queue.empty(); queue.pop_front()) {
    found.emplace_back(queue.front().next.value(), queue.front().last.value());
  }
  return found;
}

using Ranges = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

}  // namespace

BOOST_AUTO_TEST_SUITE(response_queue)

BOOST_AUTO_TEST_CASE(repeats_go_to_their_place_by_psn_across_the_wrap) {
  ResponseQueue queue(4);
  queue.push(response(0xFFFFFE, 1));
  queue.push(response(2, 3));
  queue.repeat(response(0xFFFFF0, 0xFFFFF1));
  queue.repeat(response(0xFFFFF8, 0xFFFFF8));
  queue.repeat(response(0xFFFFFF, 0xFFFFFF));
  BOOST_CHECK(
      (drain(queue) ==
       Ranges{{0xFFFFF0, 0xFFFFF1}, {0xFFFFF8, 0xFFFFF8}, {0xFFFFFF, 0xFFFFFF}, {0xFFFFFE, 1}, {2, 3}}));
}

BOOST_AUTO_TEST_CASE(a_repeat_replaces_what_ends_where_it_ends) {
  ResponseQueue queue(4);
  queue.push(response(12, 15));
  queue.repeat(response(10, 15));
  BOOST_CHECK_EQUAL(queue.originals(), 1u);
  BOOST_CHECK((drain(queue) == Ranges{{10, 15}}));
  BOOST_CHECK_EQUAL(queue.originals(), 0u);
}

BOOST_AUTO_TEST_CASE(repeats_without_room_are_dropped) {
  ResponseQueue queue(2);
  queue.push(response(20, 20));
  queue.push(response(21, 21));
  for (std::uint32_t psn = 10; psn < 18; ++psn) queue.repeat(response(psn, psn));
  BOOST_CHECK((drain(queue) == Ranges{{10, 10}, {11, 11}, {20, 20}, {21, 21}}));
}

BOOST_AUTO_TEST_CASE(repeats_are_not_counted_as_originals) {
  ResponseQueue queue(2);
  queue.push(response(20, 20));
  queue.repeat(response(10, 10));
  BOOST_CHECK_EQUAL(queue.originals(), 1u);
  queue.pop_front();
  BOOST_CHECK_EQUAL(queue.originals(), 1u);
  queue.pop_front();
  BOOST_CHECK_EQUAL(queue.originals(), 0u);
}

BOOST_AUTO_TEST_CASE(dropping_from_a_psn_keeps_what_comes_before) {
  ResponseQueue queue(4);
  queue.push(response(10, 12));
  queue.push(response(13, 14));
  queue.push(response(15, 15));
  queue.repeat(response(5, 5));
  queue.drop_from(wire::Psn(13));
  BOOST_CHECK_EQUAL(queue.originals(), 1u);
  BOOST_CHECK((drain(queue) == Ranges{{5, 5}, {10, 12}}));
}

BOOST_AUTO_TEST_CASE(clearing_leaves_room_for_all) {
  ResponseQueue queue(2);
  queue.push(response(1, 1));
  queue.push(response(2, 2));
  queue.clear();
  BOOST_CHECK(queue.empty());
  BOOST_CHECK_EQUAL(queue.originals(), 0u);
}

BOOST_AUTO_TEST_SUITE_END()
