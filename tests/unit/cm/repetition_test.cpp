// What is sent again, when, and what an end answers to what it has had before.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

// Loses every message of these kinds.
void lose(FakeWire& wire, std::initializer_list<Message> kinds) {
  wire.loses = [kinds = std::vector(kinds)](const End&, const Mad& mad) {
    return std::ranges::find(kinds, kind_of(mad)) != kinds.end();
  };
}

// Runs until one more message has left `end`, and says how long that took.
Nanoseconds until_sent(FakeWire& wire, const End& end, Message kind) {
  const Time before = wire.now;
  const std::size_t count = end.count(kind);
  while (end.count(kind) == count && wire.now - before < 200s) wire.run(1ms);
  return wire.now - before;
}

BOOST_AUTO_TEST_SUITE(repetition)

BOOST_AUTO_TEST_CASE(request_is_sent_sixteen_times_and_given_up) {
  FakeWire wire;
  lose(wire, {Message::req});
  const CommunicationId id = request(wire);
  BOOST_TEST((until_sent(wire, wire.left, Message::req) == 4608ms));
  wire.run_until_quiet();
  BOOST_TEST((wire.now - Time{} >= 16 * 4608ms));
  BOOST_TEST((wire.now - Time{} < 16 * 4608ms + 1ms));
  BOOST_TEST(wire.left.count(Message::req) == 16u);
  BOOST_TEST(wire.left.manager.counters({}).repeated[0] == 15u);
  BOOST_TEST((wire.left.expect(Told::unanswered).missing == Unanswered::request));
  const Rej rej = last<Rej>(wire);
  BOOST_TEST((rej.reason == RejectReason::timeout));
  BOOST_TEST(wire.left.entries() == 1u);
  wire.left.manager.destroy(id, wire.now);
  BOOST_TEST(wire.left.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(repeated_request_is_the_same_datagram) {
  FakeWire wire;
  lose(wire, {Message::req});
  request(wire);
  wire.run(10s);
  BOOST_REQUIRE(wire.sent.size() == 3u);
  BOOST_TEST((wire.sent.at(0) == wire.sent.at(1)));
  BOOST_TEST((wire.sent.at(0) == wire.sent.at(2)));
}

BOOST_AUTO_TEST_CASE(reply_is_sent_sixteen_times_and_given_up) {
  FakeWire wire;
  const Ids ids = requested(wire);
  lose(wire, {Message::rep, Message::req});
  wire.right.manager.reply(ids.right, reply_parameters(), wire.now);
  BOOST_TEST((until_sent(wire, wire.right, Message::rep) == 4096ms));
  wire.run(16 * 4096ms);
  BOOST_TEST(wire.right.count(Message::rep) == 16u);
  BOOST_TEST((wire.right.expect(Told::unanswered).missing == Unanswered::reply));
  // The other end hears of it, by the CA GUID: it had no REP that told it the id.
  const Rej rej = last<Rej>(wire);
  BOOST_TEST((rej.reason == RejectReason::timeout));
  BOOST_TEST(rej.information.length == 8);
  BOOST_TEST(std::to_integer<int>(rej.information.bytes[7]) == 2);
}

BOOST_AUTO_TEST_CASE(disconnection_request_waits_as_long_as_the_handshake_did) {
  FakeWire wire;
  const Ids ids = connected(wire);
  lose(wire, {Message::dreq});
  wire.left.manager.disconnect(ids.left, wire.now);
  BOOST_TEST((until_sent(wire, wire.left, Message::dreq) == 4608ms));
  wire.right.manager.disconnect(ids.right, wire.now);
  BOOST_TEST((until_sent(wire, wire.right, Message::dreq) == 4096ms));
  wire.run(75s);
  BOOST_TEST(wire.left.count(Message::dreq) == 16u);
  BOOST_TEST((wire.left.expect(Told::disconnected).how == Disconnected::timed_out));
  BOOST_TEST((wire.right.expect(Told::disconnected).how == Disconnected::timed_out));
  wire.left.expect(Told::time_wait_over);
}

BOOST_AUTO_TEST_CASE(repeated_request_gets_an_mra_while_the_user_thinks) {
  FakeWire wire;
  const Ids ids = requested(wire);
  BOOST_TEST((until_sent(wire, wire.left, Message::req) > 4600ms));
  wire.settle();
  BOOST_TEST(wire.right.quiet());
  const Mra mra = last<Mra>(wire);
  BOOST_TEST(mra.local_id.value == ids.right.value);
  BOOST_TEST(mra.remote_id.value == ids.left.value);
  BOOST_TEST((mra.acknowledged == AcknowledgedMessage::req));
  BOOST_TEST(mra.service_timeout.value == 24);
  BOOST_TEST(wire.right.manager.counters({}).duplicates[0] == 1u);
  // 2^(24-8) + 2^(17-8) ms from the MRA on, each time.
  BOOST_TEST((until_sent(wire, wire.left, Message::req) > 66000ms));
  BOOST_TEST((until_sent(wire, wire.left, Message::req) > 66000ms));
  wire.right.manager.reply(ids.right, reply_parameters(), wire.now);
  wire.settle();
  wire.left.expect(Told::replied);
}

BOOST_AUTO_TEST_CASE(repeated_request_is_ignored_once_it_is_answered) {
  FakeWire wire;
  replied(wire);
  const std::size_t before = wire.sent.size();
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, wire.sent.at(0)});
  wire.settle();
  BOOST_TEST(wire.sent.size() == before);
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(wire.right.manager.counters({}).duplicates[0] == 1u);
}

BOOST_AUTO_TEST_CASE(repeated_reply_gets_the_ready_again) {
  FakeWire wire;
  const Ids ids = replied(wire);
  lose(wire, {Message::rtu});
  wire.left.manager.ready(ids.left);
  wire.settle();
  lose(wire, {});
  wire.run(5s);
  BOOST_TEST(wire.left.count(Message::rtu) == 2u);
  wire.right.expect(Told::established);
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.right.count(Message::rep) == 2u);
}

BOOST_AUTO_TEST_CASE(repeated_reply_gets_an_mra_while_the_user_thinks) {
  FakeWire wire;
  const Ids ids = replied(wire);
  wire.run(5s);
  BOOST_TEST(wire.left.quiet());
  const Mra mra = last<Mra>(wire);
  BOOST_TEST((mra.acknowledged == AcknowledgedMessage::rep));
  BOOST_TEST(mra.remote_id.value == ids.right.value);
  wire.run(60s);
  BOOST_TEST(wire.right.count(Message::rep) == 2u);
  wire.left.manager.ready(ids.left);
  wire.settle();
  wire.right.expect(Told::established);
}

BOOST_AUTO_TEST_CASE(mra_of_something_else_changes_nothing) {
  FakeWire wire;
  const Ids ids = requested(wire);
  Mra mra;
  mra.remote_id = ids.left;
  mra.service_timeout = {24};
  mra.acknowledged = AcknowledgedMessage::rep;
  wire.put(wire.left, {{}, {wire.left.gid(), wire.right.gid()}, encode(mra, {})});
  wire.settle();
  BOOST_TEST((until_sent(wire, wire.left, Message::req) < 4700ms));
}

BOOST_AUTO_TEST_CASE(reply_for_an_unknown_connection_is_dropped) {
  FakeWire wire;
  const Ids ids = requested(wire);
  wire.left.manager.destroy(ids.left, wire.now);
  Rep rep;
  rep.local_id = ids.right;
  rep.remote_id = ids.left;
  const std::size_t before = wire.sent.size();
  wire.put(wire.left, {{}, {wire.left.gid(), wire.right.gid()}, encode(rep, {})});
  wire.run(20us);
  BOOST_TEST(wire.sent.size() == before);
}

BOOST_AUTO_TEST_CASE(repeated_ready_is_ignored) {
  FakeWire wire;
  connected(wire);
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, wire.sent.at(2)});
  wire.settle();
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(wire.sent.size() == 3u);
  BOOST_TEST(wire.right.manager.counters({}).duplicates[static_cast<std::size_t>(Message::rtu)] == 1u);
}

BOOST_AUTO_TEST_CASE(times_of_the_request_are_the_path_s_and_the_peer_s) {
  FakeWire wire;
  lose(wire, {Message::req});
  ConnectParameters parameters = connect_parameters(wire);
  parameters.path.packet_lifetime = {4};  // less than a millisecond counts as one
  parameters.remote_response_timeout = {10};
  parameters.max_retries = 2;
  wire.left.manager.connect(parameters, wire.now);
  BOOST_TEST((until_sent(wire, wire.left, Message::req) == 6ms));
  wire.run(1s);
  BOOST_TEST(wire.left.count(Message::req) == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
