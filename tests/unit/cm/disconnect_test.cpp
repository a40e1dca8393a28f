// DREQ, DREP and time wait.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

void lose(FakeWire& wire, Message kind) {
  wire.loses = [kind](const End&, const Mad& mad) { return kind_of(mad) == kind; };
}

void lose_nothing(FakeWire& wire) {
  wire.loses = [](const End&, const Mad&) { return false; };
}

TransactionId transaction(const Mad& mad) {
  MadHeader header;
  BOOST_REQUIRE((decode(mad, header) == MadError::none));
  return header.transaction;
}

// Sends what left sent as its i-th message to right again.
void again(FakeWire& wire, std::size_t i) {
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, wire.sent.at(i)});
  wire.settle();
}

BOOST_AUTO_TEST_SUITE(disconnect)

BOOST_AUTO_TEST_CASE(request_is_answered_when_the_user_disconnects_too) {
  FakeWire wire;
  const Ids ids = connected(wire);
  BOOST_TEST((wire.left.manager.disconnect(ids.left, wire.now) == Result::ok));
  wire.settle();
  const Dreq dreq = last<Dreq>(wire);
  BOOST_TEST(dreq.local_id.value == ids.left.value);
  BOOST_TEST(dreq.remote_id.value == ids.right.value);
  BOOST_TEST(dreq.remote_qpn.value == kRightQpn.value);
  BOOST_TEST(wire.right.expect(Told::disconnect_requested).id.value == ids.right.value);
  BOOST_TEST(wire.left.quiet());
  wire.run(3s);
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST((wire.right.manager.disconnect(ids.right, wire.now) == Result::ok));
  wire.settle();
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::answered));
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(time_wait_lasts_as_long_as_the_ack_timeout) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  wire.right.manager.disconnect(ids.right, wire.now);
  const Time begin = wire.now;
  wire.settle();
  wire.left.expect(Told::disconnected);
  wire.right.expect(Told::disconnect_requested);
  wire.run_until_quiet();
  BOOST_TEST((wire.now - begin == 512ms + kWireDelay));
  wire.left.expect(Told::time_wait_over);
  wire.right.expect(Told::time_wait_over);
  BOOST_TEST((wire.left.manager.disconnect(ids.left, wire.now) == Result::wrong_state));
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(both_at_once_end_without_a_second_call) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::answered));
  BOOST_TEST((wire.right.expect(Told::disconnected).how == Disconnected::answered));
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.left.count(Message::drep) == 1u);
  BOOST_TEST(wire.right.count(Message::drep) == 1u);
  BOOST_TEST(wire.left.count(Message::dreq) == 1u);
  // Left's and right's DREQ, then right's and left's answers.
  BOOST_REQUIRE(wire.sent.size() == 7u);
  BOOST_TEST((transaction(wire.sent.at(5)) == transaction(wire.sent.at(3))));
  BOOST_TEST((transaction(wire.sent.at(6)) == transaction(wire.sent.at(4))));
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(both_at_once_with_lost_answers_end_too) {
  FakeWire wire;
  const Ids ids = connected(wire);
  lose(wire, Message::drep);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.run(1us);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  lose_nothing(wire);
  wire.run_until_quiet();
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::answered));
  BOOST_TEST((wire.right.expect(Told::disconnected).how == Disconnected::answered));
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(request_before_the_ready_disconnects_without_being_established) {
  FakeWire wire;
  const Ids ids = replied(wire);
  lose(wire, Message::rtu);
  wire.left.manager.ready(ids.left);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  wire.right.expect(Told::disconnect_requested);
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(!wire.right.manager.next_deadline().has_value());
  // The RTU comes late.
  again(wire, 2);
  BOOST_TEST(wire.right.quiet());
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  wire.left.expect(Told::disconnected);
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(repeated_request_tells_the_user_once) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  again(wire, 3);
  wire.right.expect(Told::disconnect_requested);
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(wire.right.count(Message::drep) == 0u);
}

BOOST_AUTO_TEST_CASE(lost_answer_is_sent_again_in_time_wait) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  lose(wire, Message::drep);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  lose_nothing(wire);
  again(wire, 3);
  const Drep drep = last<Drep>(wire);
  BOOST_TEST(drep.local_id.value == ids.right.value);
  BOOST_TEST(drep.remote_id.value == ids.left.value);
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::answered));
}

BOOST_AUTO_TEST_CASE(request_for_a_connection_that_is_gone_is_answered) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  lose(wire, Message::drep);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.run(1s);
  // Time wait is over, the user has its id still; then it has not.
  again(wire, 3);
  BOOST_TEST(wire.right.count(Message::drep) == 2u);
  wire.right.manager.destroy(ids.right, wire.now);
  lose_nothing(wire);
  wire.run(5s);
  const Drep drep = last<Drep>(wire);
  BOOST_TEST(drep.local_id.value == ids.right.value);
  BOOST_TEST(drep.remote_id.value == ids.left.value);
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::answered));
  BOOST_TEST(wire.left.count(Message::dreq) == 2u);
}

BOOST_AUTO_TEST_CASE(request_for_another_qp_is_dropped) {
  FakeWire wire;
  const Ids ids = connected(wire);
  Dreq dreq;
  dreq.local_id = ids.left;
  dreq.remote_id = ids.right;
  dreq.remote_qpn = wire::Qpn{0x99};
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(dreq, {})});
  wire.settle();
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(wire.right.count(Message::drep) == 0u);
}

BOOST_AUTO_TEST_CASE(answer_without_a_request_is_ignored) {
  FakeWire wire;
  const Ids ids = connected(wire);
  Drep drep;
  drep.local_id = ids.right;
  drep.remote_id = ids.left;
  wire.put(wire.left, {{}, {wire.left.gid(), wire.right.gid()}, encode(drep, {})});
  wire.settle();
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.left.manager.attributes(ids.left)->rts.has_value());
}

BOOST_AUTO_TEST_CASE(late_request_for_a_connection_in_time_wait_is_stale) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.destroy(ids.left, wire.now);
  wire.settle();
  wire.right.manager.destroy(ids.right, wire.now);
  wire.settle();
  again(wire, 0);
  const Rej rej = last<Rej>(wire);
  BOOST_TEST((rej.reason == RejectReason::stale_connection));
  BOOST_TEST(rej.remote_id.value == ids.left.value);
  wire.right.expect(Told::disconnect_requested);
  BOOST_TEST(wire.right.quiet());
}

BOOST_AUTO_TEST_CASE(late_request_does_not_disturb_the_disconnection) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.settle();
  lose(wire, Message::drep);
  wire.right.manager.disconnect(ids.right, wire.now);
  lose_nothing(wire);
  again(wire, 0);
  BOOST_TEST(wire.right.count(Message::rej) == 1u);
  BOOST_TEST(wire.left.quiet());
  wire.run(5s);
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::answered));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
