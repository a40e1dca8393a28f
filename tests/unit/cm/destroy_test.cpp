// The user gives a connection up, in each of its states: what the peer hears, and that nothing is left.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

// Left destroys its id; afterwards it hears of the connection no more, and forgets it.
void left_destroys(FakeWire& wire, const Ids& ids) {
  wire.left.events.clear();
  wire.left.manager.destroy(ids.left, wire.now);
  BOOST_TEST(!wire.left.manager.attributes(ids.left).has_value());
  wire.settle();
}

void expect_left_forgets(FakeWire& wire) {
  wire.run(200s);
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.left.entries() == 0u);
  BOOST_TEST(!wire.left.manager.next_deadline().has_value());
}

BOOST_AUTO_TEST_SUITE(destroy)

BOOST_AUTO_TEST_CASE(after_the_request_it_gives_up) {
  FakeWire wire;
  const Ids ids = requested(wire);
  left_destroys(wire, ids);
  BOOST_TEST((last<Rej>(wire).reason == RejectReason::timeout));
  wire.right.expect(Told::rejected);
  expect_left_forgets(wire);
}

BOOST_AUTO_TEST_CASE(after_an_mra_it_gives_up) {
  FakeWire wire;
  const Ids ids = requested(wire);
  wire.run(5s);
  BOOST_TEST(wire.right.count(Message::mra) == 1u);
  left_destroys(wire, ids);
  wire.right.expect(Told::rejected);
  expect_left_forgets(wire);
}

BOOST_AUTO_TEST_CASE(after_the_reply_it_rejects) {
  FakeWire wire;
  const Ids ids = replied(wire);
  left_destroys(wire, ids);
  const Rej rej = last<Rej>(wire);
  BOOST_TEST((rej.reason == RejectReason::consumer));
  BOOST_TEST((rej.rejected == RejectedMessage::rep));
  wire.right.expect(Told::rejected);
  expect_left_forgets(wire);
}

BOOST_AUTO_TEST_CASE(a_request_not_answered_is_rejected) {
  FakeWire wire;
  const Ids ids = requested(wire);
  wire.right.manager.destroy(ids.right, wire.now);
  wire.settle();
  const Rej rej = std::get<Rej>(wire.left.expect(Told::rejected).message);
  BOOST_TEST((rej.reason == RejectReason::consumer));
  BOOST_TEST(rej.local_id.value == ids.right.value);
  BOOST_TEST(wire.right.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(an_own_reply_is_taken_back) {
  FakeWire wire;
  const Ids ids = replied(wire);
  wire.right.manager.destroy(ids.right, wire.now);
  wire.settle();
  wire.left.expect(Told::rejected);
  wire.run(1s);
  BOOST_TEST(wire.right.entries() == 0u);
  BOOST_TEST(wire.right.quiet());
}

BOOST_AUTO_TEST_CASE(an_established_connection_is_disconnected) {
  FakeWire wire;
  const Ids ids = connected(wire);
  left_destroys(wire, ids);
  wire.right.expect(Told::disconnect_requested);
  wire.right.manager.disconnect(ids.right, wire.now);
  expect_left_forgets(wire);
  BOOST_TEST(wire.left.count(Message::dreq) == 1u);
}

BOOST_AUTO_TEST_CASE(a_lost_disconnection_request_is_repeated_without_the_user) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.loses = [](const End&, const Mad& mad) { return kind_of(mad) == Message::dreq; };
  left_destroys(wire, ids);
  BOOST_TEST(wire.right.quiet());
  wire.loses = [](const End&, const Mad&) { return false; };
  wire.run(5s);
  wire.right.expect(Told::disconnect_requested);
  expect_left_forgets(wire);
  BOOST_TEST(wire.left.count(Message::dreq) == 16u);
}

BOOST_AUTO_TEST_CASE(while_it_disconnects_the_request_goes_on) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  left_destroys(wire, ids);
  wire.right.expect(Told::disconnect_requested);
  wire.run(5s);
  BOOST_TEST(wire.left.count(Message::dreq) == 2u);
  wire.right.manager.disconnect(ids.right, wire.now);
  expect_left_forgets(wire);
}

BOOST_AUTO_TEST_CASE(a_disconnection_request_is_answered) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  left_destroys(wire, ids);
  BOOST_TEST((wire.right.expect(Told::disconnected).how == Disconnected::answered));
  expect_left_forgets(wire);
}

BOOST_AUTO_TEST_CASE(in_time_wait_it_is_silent) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  const std::size_t before = wire.sent.size();
  left_destroys(wire, ids);
  expect_left_forgets(wire);
  BOOST_TEST(wire.sent.size() == before);
}

BOOST_AUTO_TEST_CASE(a_connection_that_is_over_is_silent) {
  FakeWire wire;
  const Ids ids = requested(wire);
  wire.right.manager.reject(ids.right, {}, wire.now);
  wire.settle();
  const std::size_t before = wire.sent.size();
  left_destroys(wire, ids);
  BOOST_TEST(wire.left.entries() == 0u);
  expect_left_forgets(wire);
  BOOST_TEST(wire.sent.size() == before);
}

BOOST_AUTO_TEST_CASE(unknown_ids_and_second_calls_are_ignored) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.destroy(ids.left, wire.now);
  const std::size_t before = wire.sent.size();
  wire.left.manager.destroy(ids.left, wire.now);
  wire.left.manager.destroy({12345}, wire.now);
  BOOST_TEST(wire.sent.size() == before);
}

BOOST_AUTO_TEST_CASE(the_user_may_destroy_in_every_event) {
  for (const Told told : {Told::requested, Told::replied, Told::established, Told::disconnect_requested,
                          Told::disconnected, Told::time_wait_over, Told::rejected, Told::unanswered}) {
    BOOST_TEST_CONTEXT("event " << static_cast<int>(told)) {
      FakeWire wire;
      for (End* end : {&wire.left, &wire.right}) {
        end->on_event = [&wire, end, told](const Event& event) {
          if (event.told == told) return end->manager.destroy(event.id, wire.now);
          if (event.told == Told::requested) end->manager.reply(event.id, reply_parameters(), wire.now);
          if (event.told == Told::replied) end->manager.ready(event.id);
          if (event.told == Told::established) end->manager.disconnect(event.id, wire.now);
          if (event.told == Told::disconnect_requested) end->manager.disconnect(event.id, wire.now);
        };
      }
      if (told == Told::rejected) wire.right.decision = Decision::no_service;
      if (told == Told::rejected) wire.right.on_event = [](const Event&) {};
      if (told == Told::unanswered) wire.faults.lose = 1000;
      const CommunicationId id = request(wire);
      wire.run_until_quiet();
      wire.left.manager.destroy(id, wire.now);
      for (const Event& event : wire.right.events) wire.right.manager.destroy(event.id, wire.now);
      wire.run_until_quiet();
      BOOST_TEST(wire.left.entries() == 0u);
      BOOST_TEST(wire.right.entries() == 0u);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
