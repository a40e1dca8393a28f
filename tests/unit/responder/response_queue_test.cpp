#define BOOST_TEST_DYN_LINK
#include "device_model/transport/responder/response_queue.hpp"

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
  queue.repeat(response(0xFFFFFD, 0xFFFFFD));
  BOOST_CHECK(
      (drain(queue) ==
       Ranges{{0xFFFFF0, 0xFFFFF1}, {0xFFFFF8, 0xFFFFF8}, {0xFFFFFD, 0xFFFFFD}, {0xFFFFFE, 1}, {2, 3}}));
}

BOOST_AUTO_TEST_CASE(a_repeat_replaces_what_ends_where_it_ends) {
  ResponseQueue queue(4);
  queue.push(response(12, 15));
  queue.repeat(response(10, 15));
  BOOST_CHECK_EQUAL(queue.originals(), 1u);
  BOOST_CHECK((drain(queue) == Ranges{{10, 15}}));
  BOOST_CHECK_EQUAL(queue.originals(), 0u);
}

BOOST_AUTO_TEST_CASE(what_a_pending_response_will_bring_is_not_sent_twice) {
  ResponseQueue queue(4);
  queue.push(response(10, 15));
  queue.repeat(response(14, 15));
  queue.repeat(response(12, 13));
  BOOST_CHECK((drain(queue) == Ranges{{10, 15}}));
}

BOOST_AUTO_TEST_CASE(a_repeat_that_comes_twice_is_answered_once) {
  ResponseQueue queue(4);
  queue.push(response(20, 25));
  for (int i = 0; i < 3; ++i) queue.repeat(response(14, 15));
  for (int i = 0; i < 3; ++i) queue.repeat(response(12, 13));
  BOOST_CHECK((drain(queue) == Ranges{{12, 13}, {14, 15}, {20, 25}}));
}

BOOST_AUTO_TEST_CASE(of_a_repeat_in_any_order_only_what_is_not_pending_is_added) {
  constexpr std::uint32_t kMtu = 256;
  ResponseQueue queue(4);
  queue.push(response(0xFFFFFE, 1));
  queue.push(response(10, 15));
  PendingResponse again = response(0xFFFFF0, 20);
  again.address = 0x1000;
  again.remaining = 36 * kMtu + 7;
  for (int i = 0; i < 2; ++i) BOOST_CHECK(queue.repeat_missing(again, kMtu));
  BOOST_CHECK_EQUAL(queue.originals(), 2u);
  BOOST_CHECK_EQUAL(queue.front().address, 0x1000u);
  BOOST_CHECK_EQUAL(queue.front().remaining, 14 * kMtu);
  queue.pop_front();
  queue.pop_front();
  BOOST_CHECK_EQUAL(queue.front().address, 0x1000u + 18 * kMtu);
  BOOST_CHECK_EQUAL(queue.front().remaining, 8 * kMtu);
  queue.pop_front();
  queue.pop_front();
  BOOST_CHECK_EQUAL(queue.front().address, 0x1000u + 32 * kMtu);
  BOOST_CHECK_EQUAL(queue.front().remaining, 4 * kMtu + 7);
  BOOST_CHECK((drain(queue) == Ranges{{16, 20}}));
}

BOOST_AUTO_TEST_CASE(there_is_room_for_many_repeats_and_still_for_the_originals) {
  ResponseQueue queue(2);
  queue.push(response(5000, 5000));
  Ranges expected;
  // From behind, so that each goes to the front, and the ring wraps around before it grows.
  for (std::uint32_t i = 0; i < ResponseQueue::kMostRepeats; ++i) {
    BOOST_REQUIRE(queue.repeat(response(4000 - 2 * i, 4000 - 2 * i)));
    expected.insert(expected.begin(), {4000 - 2 * i, 4000 - 2 * i});
  }
  BOOST_CHECK(!queue.repeat(response(7, 7)));
  queue.push(response(5001, 5001));
  expected.insert(expected.end(), {{5000, 5000}, {5001, 5001}});
  BOOST_CHECK_EQUAL(queue.originals(), 2u);
  BOOST_CHECK((drain(queue) == expected));
}

BOOST_AUTO_TEST_CASE(growing_keeps_the_order_wherever_the_ring_begins) {
  for (std::uint32_t turns = 0; turns < 8; ++turns) {
    ResponseQueue queue(2);
    for (std::uint32_t i = 0; i < turns; ++i) {
      queue.push(response(i, i));
      queue.pop_front();
    }
    Ranges expected;
    for (std::uint32_t i = 0; i < 20; ++i) {
      BOOST_REQUIRE(queue.repeat(response(100 + i, 100 + i)));
      expected.emplace_back(100 + i, 100 + i);
    }
    BOOST_CHECK((drain(queue) == expected));
  }
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
