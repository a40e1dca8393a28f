// Backlogs, limits of memory, and datagrams that are no messages.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

// Left's n-th REQ, with its own QP.
CommunicationId request_with_qp(FakeWire& wire, std::uint32_t qpn) {
  ConnectParameters parameters = connect_parameters(wire);
  parameters.qpn = wire::Qpn{qpn};
  const CommunicationId id = wire.left.manager.connect(parameters, wire.now).id;
  wire.settle();
  return id;
}

std::uint64_t dropped(const End& end) { return end.manager.counters({}).dropped_requests; }

BOOST_AUTO_TEST_SUITE(limits)

BOOST_AUTO_TEST_CASE(requests_beyond_the_backlog_are_dropped_and_come_again) {
  FakeWire wire;
  wire.right.manager.listen(kService, 2);
  for (std::uint32_t qpn = 1; qpn <= 3; ++qpn) request_with_qp(wire, qpn);
  const CommunicationId first = wire.right.expect(Told::requested).id;
  wire.right.expect(Told::requested);
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(dropped(wire.right) == 1u);
  BOOST_TEST(wire.right.count(Message::rej) == 0u);
  wire.right.manager.reply(first, reply_parameters(), wire.now);
  wire.run(5s);
  const Event third = wire.right.expect(Told::requested);
  BOOST_TEST(std::get<Req>(third.message).local_qpn.value == 3u);
}

BOOST_AUTO_TEST_CASE(every_answer_frees_a_place_in_the_backlog) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  request_with_qp(wire, 1);
  wire.right.manager.reject(wire.right.expect(Told::requested).id, {}, wire.now);
  request_with_qp(wire, 2);
  wire.right.manager.destroy(wire.right.expect(Told::requested).id, wire.now);
  const CommunicationId given_up = request_with_qp(wire, 3);
  wire.right.expect(Told::requested);
  wire.settle();
  wire.left.events.clear();
  wire.left.manager.destroy(given_up, wire.now);
  wire.settle();
  wire.right.expect(Told::rejected);
  wire.right.decision = Decision::drop;
  request_with_qp(wire, 4);
  wire.right.expect(Told::requested);
  wire.right.decision = Decision::keep;
  request_with_qp(wire, 5);
  wire.right.expect(Told::requested);
}

BOOST_AUTO_TEST_CASE(datagram_requests_share_the_backlog) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  SidrRequestParameters parameters;
  parameters.path = wire.left.path_to(wire.right);
  parameters.service_id = kService;
  wire.left.manager.sidr_request(parameters, wire.now);
  wire.left.manager.sidr_request(parameters, wire.now);
  wire.settle();
  const CommunicationId id = wire.right.expect(Told::sidr_requested).id;
  BOOST_TEST(dropped(wire.right) == 1u);
  request_with_qp(wire, 1);
  BOOST_TEST(dropped(wire.right) == 2u);
  wire.right.manager.sidr_reply(id, {});
  wire.run(5s);
  wire.right.expect(Told::sidr_requested);
}

BOOST_AUTO_TEST_CASE(listener_that_goes_away_leaves_its_requests_to_the_user) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  BOOST_TEST((wire.right.manager.listen(kService, 1) == Result::in_use));
  request_with_qp(wire, 1);
  const CommunicationId id = wire.right.expect(Told::requested).id;
  wire.right.manager.stop_listening(kService);
  request_with_qp(wire, 2);
  wire.left.expect(Told::rejected);
  // The new listener's backlog is empty, whatever becomes of the old one's request.
  wire.right.manager.listen(kService, 1);
  wire.right.manager.reply(id, reply_parameters(), wire.now);
  wire.settle();
  wire.left.expect(Told::replied);
  request_with_qp(wire, 3);
  wire.right.expect(Told::requested);
  request_with_qp(wire, 4);
  BOOST_TEST(dropped(wire.right) == 1u);
}

BOOST_AUTO_TEST_CASE(dropped_by_the_user_it_is_a_new_request_when_it_comes_again) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  wire.right.decision = Decision::drop;
  request_with_qp(wire, 1);
  const CommunicationId first = wire.right.expect(Told::requested).id;
  BOOST_TEST(wire.right.entries() == 0u);
  BOOST_TEST((wire.right.manager.reply(first, reply_parameters(), wire.now) == Result::unknown_id));
  wire.right.decision = Decision::keep;
  wire.run(5s);
  wire.right.expect(Told::requested);
  BOOST_TEST(dropped(wire.right) == 1u);
}

BOOST_AUTO_TEST_CASE(connections_are_limited) {
  FakeWire wire({.connections = 2});
  wire.right.manager.listen(kService, 16);
  const CommunicationId first = request_with_qp(wire, 1);
  request_with_qp(wire, 2);
  BOOST_TEST((wire.left.manager.connect(connect_parameters(wire), wire.now).result == Result::no_room));
  SidrRequestParameters sidr;
  sidr.path = wire.left.path_to(wire.right);
  BOOST_TEST((wire.left.manager.sidr_request(sidr, wire.now).result == Result::no_room));
  BOOST_TEST(wire.right.entries() == 2u);
  // One that comes from elsewhere finds no room at right.
  Req req = read<Req>(wire.sent.at(0));
  req.local_id = {5};
  req.local_qpn = wire::Qpn{5};
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(req, {})});
  wire.settle();
  BOOST_TEST(wire.right.entries() == 2u);
  BOOST_TEST(dropped(wire.right) == 1u);
  SidrReq sidr_req;
  sidr_req.request_id = {6};
  sidr_req.service = kService;
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(sidr_req, {})});
  wire.settle();
  BOOST_TEST(wire.right.entries() == 2u);
  BOOST_TEST(dropped(wire.right) == 2u);
  wire.left.manager.destroy(first, wire.now);
  BOOST_TEST((wire.left.manager.connect(connect_parameters(wire), wire.now).result == Result::ok));
}

BOOST_AUTO_TEST_CASE(listeners_are_limited) {
  Settings settings;
  settings.listeners = 1;
  End end(1, settings);
  BOOST_TEST((end.manager.listen({1}, 1) == Result::ok));
  BOOST_TEST((end.manager.listen({2}, 1) == Result::no_room));
  end.manager.stop_listening({1});
  BOOST_TEST((end.manager.listen({2}, 1) == Result::ok));
}

BOOST_AUTO_TEST_CASE(what_is_no_message_is_counted_and_dropped) {
  FakeWire wire;
  const Ids ids = connected(wire);
  const Mad good = wire.sent.at(0);
  const std::size_t before = wire.sent.size();
  // Base version, class, class version, method, attribute.
  for (const std::size_t byte : {0u, 1u, 2u, 3u, 16u, 17u}) {
    Mad bad = good;
    bad[byte] ^= std::byte{0x40};
    wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, bad});
  }
  Req without_id = read<Req>(good);
  without_id.local_id = {};
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(without_id, {})});
  wire.settle();
  BOOST_TEST(wire.right.manager.counters({}).malformed == 7u);
  BOOST_TEST(wire.sent.size() == before);
  BOOST_TEST(wire.right.quiet());
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(alternate_paths_are_not_answered) {
  FakeWire wire;
  const Ids ids = connected(wire);
  const std::size_t before = wire.sent.size();
  Lap lap;
  lap.local_id = ids.left;
  lap.remote_id = ids.right;
  lap.remote_qpn = kRightQpn;
  Apr apr;
  apr.local_id = ids.left;
  apr.remote_id = ids.right;
  const GsiAddress from{wire.right.gid(), wire.left.gid()};
  wire.put(wire.right, {{}, from, encode(lap, {})});
  wire.put(wire.right, {{}, from, encode(apr, {})});
  wire.settle();
  BOOST_TEST(wire.sent.size() == before);
  BOOST_TEST(wire.right.quiet());
  const Counters counters = wire.right.manager.counters({});
  BOOST_TEST(counters.received[static_cast<std::size_t>(Message::lap)] == 1u);
  BOOST_TEST(counters.received[static_cast<std::size_t>(Message::apr)] == 1u);
  BOOST_TEST(counters.malformed == 0u);
}

BOOST_AUTO_TEST_CASE(messages_are_counted_by_kind_and_device) {
  FakeWire wire;
  connected(wire);
  const Counters left = wire.left.manager.counters({});
  BOOST_TEST(left.sent[static_cast<std::size_t>(Message::req)] == 1u);
  BOOST_TEST(left.sent[static_cast<std::size_t>(Message::rtu)] == 1u);
  BOOST_TEST(left.received[static_cast<std::size_t>(Message::rep)] == 1u);
  BOOST_TEST(left.repeated[static_cast<std::size_t>(Message::req)] == 0u);
  const Counters other = wire.left.manager.counters(DeviceIndex{1});
  BOOST_TEST(other.sent[static_cast<std::size_t>(Message::req)] == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
