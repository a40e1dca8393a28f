// How a connection is made: REQ, REP, RTU, and what is in them.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

std::vector<std::byte> text(std::size_t size) { return std::vector<std::byte>(size, std::byte{0x5A}); }

MadHeader header_of(const Mad& mad) {
  MadHeader header;
  BOOST_REQUIRE(decode(mad, header) == MadError::none);
  return header;
}

BOOST_AUTO_TEST_SUITE(connect)

BOOST_AUTO_TEST_CASE(request_reply_and_ready_establish_it) {
  FakeWire wire;
  const Ids ids = requested(wire);
  BOOST_TEST(wire.left.quiet());
  BOOST_REQUIRE(wire.right.manager.reply(ids.right, reply_parameters(), wire.now) == Result::ok);
  wire.settle();
  BOOST_TEST(wire.left.expect(Told::replied).id.value == ids.left.value);
  BOOST_TEST(wire.right.quiet());
  BOOST_REQUIRE(wire.left.manager.ready(ids.left) == Result::ok);
  wire.settle();
  BOOST_TEST(wire.right.expect(Told::established).id.value == ids.right.value);
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.sent.size() == 3u);
  BOOST_TEST(!wire.left.manager.next_deadline().has_value());
  BOOST_TEST(!wire.right.manager.next_deadline().has_value());
  expect_nothing_left(wire, ids);
}

// IBTA 12.6.7: a path within the subnet has the LIDs of both ports, and the passive side goes back by
// them.
BOOST_AUTO_TEST_CASE(a_path_within_a_subnet_has_lids) {
  FakeWire wire;
  wire.loses = [](const End&, const Mad&) { return true; };
  wire.right.manager.listen(kService, 16);
  ConnectParameters parameters = connect_parameters(wire);
  parameters.path.own_lid = {3};
  parameters.path.peer_lid = {9};
  parameters.path.hop_limit = 0;
  BOOST_REQUIRE(wire.left.manager.connect(parameters, wire.now).result == Result::ok);
  const Req req = read<Req>(wire.sent.at(0));
  BOOST_TEST(req.primary.subnet_local);
  BOOST_TEST(req.primary.local_lid.value == 3);
  BOOST_TEST(req.primary.remote_lid.value == 9);

  GsiAddress from{.own = wire.right.gid(), .peer = wire.left.gid()};
  from.peer_lid = {3};
  wire.right.manager.receive({}, from, wire.sent.at(0), wire.now);
  const Path back = wire.right.expect(Told::requested).path;
  BOOST_TEST(back.own_lid.value == 9);
  BOOST_TEST(back.peer_lid.value == 3);
  BOOST_TEST(back.hop_limit == 0);
}

BOOST_AUTO_TEST_CASE(request_has_the_fields_of_linux) {
  FakeWire wire;
  request(wire);
  const Req req = read<Req>(wire.sent.at(0));
  BOOST_TEST(req.service.value == kService.value);
  BOOST_TEST(req.local_ca_guid.value == End::ca_guid(1).value);
  BOOST_TEST(req.local_qpn.value == kLeftQpn.value);
  BOOST_TEST(req.responder_resources == 4);
  BOOST_TEST(req.initiator_depth == 2);
  BOOST_TEST(req.remote_cm_response_timeout.value == 20);
  BOOST_TEST(req.local_cm_response_timeout.value == 20);
  BOOST_TEST(req.max_cm_retries == 15);
  BOOST_TEST(req.retry_count == 7);
  BOOST_TEST(req.rnr_retry_count == 7);
  BOOST_TEST(req.pkey.value == 0xFFFF);
  BOOST_TEST((req.path_mtu == MtuCode::bytes_1024));
  BOOST_TEST((req.transport_service == TransportService::rc));
  BOOST_TEST(req.primary.local_lid.value == 0xFFFF);
  BOOST_TEST(req.primary.remote_lid.value == 0xFFFF);
  BOOST_TEST(!req.primary.subnet_local);
  BOOST_TEST((req.primary.local_gid == wire.left.gid()));
  BOOST_TEST((req.primary.remote_gid == wire.right.gid()));
  BOOST_TEST(req.primary.flow_label == 0x2C349u);
  BOOST_TEST(req.primary.hop_limit == 64);
  BOOST_TEST(req.primary.local_ack_timeout.value == 17);
  BOOST_TEST((req.alternate == PathParameters{}));
}

BOOST_AUTO_TEST_CASE(path_of_one_hop_stays_in_the_subnet) {
  FakeWire wire;
  ConnectParameters parameters = connect_parameters(wire);
  parameters.path.hop_limit = 1;
  wire.left.manager.connect(parameters, wire.now);
  const PathParameters path = last<Req>(wire).primary;
  BOOST_TEST(path.subnet_local);
  BOOST_TEST(path.local_lid.value == 0u);
}

BOOST_AUTO_TEST_CASE(retry_counts_above_seven_are_seven) {
  FakeWire wire;
  ConnectParameters parameters = connect_parameters(wire);
  parameters.retry_count = 200;
  parameters.rnr_retry_count = 9;
  wire.right.manager.listen(kService, 1);
  const CommunicationId id = wire.left.manager.connect(parameters, wire.now).id;
  const Req req = read<Req>(wire.sent.at(0));
  BOOST_TEST(req.retry_count == 7);
  BOOST_TEST(req.rnr_retry_count == 7);
  wire.settle();
  wire.right.manager.reply(wire.right.expect(Told::requested).id, reply_parameters(), wire.now);
  wire.settle();
  BOOST_TEST(wire.left.manager.attributes(id)->rts->retry_count == 7);
}

BOOST_AUTO_TEST_CASE(answers_repeat_the_transaction_of_what_they_answer) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  wire.left.manager.disconnect(ids.left, wire.now);
  BOOST_REQUIRE(wire.sent.size() == 5u);
  const auto transaction = [&](std::size_t i) { return header_of(wire.sent.at(i)).transaction.value; };
  const auto swapped = [](CommunicationId id) { return std::uint64_t{__builtin_bswap32(id.value)}; };
  BOOST_TEST((transaction(0) & 0xFFFFFFFF) == swapped(ids.left));
  BOOST_TEST(transaction(1) == transaction(0));
  BOOST_TEST(transaction(2) == transaction(0));
  BOOST_TEST((transaction(3) & 0xFFFFFFFF) == swapped(ids.right));
  BOOST_TEST(transaction(4) == transaction(3));
}

BOOST_AUTO_TEST_CASE(each_message_names_the_connection_by_both_ids) {
  FakeWire wire;
  const Ids ids = connected(wire);
  BOOST_TEST(read<Req>(wire.sent.at(0)).local_id.value == ids.left.value);
  const Rep rep = read<Rep>(wire.sent.at(1));
  BOOST_TEST(rep.local_id.value == ids.right.value);
  BOOST_TEST(rep.remote_id.value == ids.left.value);
  const Rtu rtu = read<Rtu>(wire.sent.at(2));
  BOOST_TEST(rtu.local_id.value == ids.left.value);
  BOOST_TEST(rtu.remote_id.value == ids.right.value);
}

BOOST_AUTO_TEST_CASE(ids_and_psns_follow_from_the_seed_and_are_not_zero) {
  const auto first_ids = [](std::uint64_t seed) {
    FakeWire wire({.seed = seed});
    const Req req = (request(wire), read<Req>(wire.sent.at(0)));
    return std::pair(req.local_id.value, req.starting_psn.value());
  };
  BOOST_TEST((first_ids(1) == first_ids(1)));
  BOOST_TEST((first_ids(1) != first_ids(2)));
  BOOST_TEST(first_ids(1).first != 0u);
}

BOOST_AUTO_TEST_CASE(reply_has_the_fields_of_linux) {
  FakeWire wire;
  replied(wire);
  const Rep rep = read<Rep>(wire.sent.at(1));
  BOOST_TEST(rep.local_qpn.value == kRightQpn.value);
  BOOST_TEST(rep.responder_resources == 3);
  BOOST_TEST(rep.initiator_depth == 2);
  BOOST_TEST(rep.rnr_retry_count == 5);
  BOOST_TEST(rep.target_ack_delay.value == 15);
  BOOST_TEST(rep.failover_accepted == 0);
  BOOST_TEST(rep.local_ca_guid.value == End::ca_guid(2).value);
  BOOST_TEST(rep.local_eecn == 0u);
}

BOOST_AUTO_TEST_CASE(private_data_arrive_whole_and_their_limits_hold) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  ConnectParameters parameters = connect_parameters(wire);
  const auto too_long = text(93);
  parameters.private_data = too_long;
  BOOST_TEST((wire.left.manager.connect(parameters, wire.now).result == Result::too_long));
  BOOST_TEST(wire.left.entries() == 0u);
  parameters.private_data = std::span(too_long).first(92);
  BOOST_REQUIRE((wire.left.manager.connect(parameters, wire.now).result == Result::ok));
  wire.settle();
  const Event event = wire.right.expect(Told::requested);
  BOOST_TEST((std::ranges::equal(std::get<Req>(event.message).private_data, text(92))));

  ReplyParameters reply = reply_parameters();
  const auto reply_too_long = text(197);
  reply.private_data = reply_too_long;
  BOOST_TEST((wire.right.manager.reply(event.id, reply, wire.now) == Result::too_long));
  reply.private_data = std::span(reply_too_long).first(196);
  BOOST_REQUIRE((wire.right.manager.reply(event.id, reply, wire.now) == Result::ok));
  wire.settle();
  const Event answer = wire.left.expect(Told::replied);
  BOOST_TEST((std::ranges::equal(std::get<Rep>(answer.message).private_data, text(196))));
}

BOOST_AUTO_TEST_CASE(vendor_options_travel_both_ways) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  ConnectParameters parameters = connect_parameters(wire);
  parameters.ece = {0x15B3, 0x10203040};
  wire.left.manager.connect(parameters, wire.now);
  wire.settle();
  const Event event = wire.right.expect(Told::requested);
  BOOST_TEST((std::get<Req>(event.message).ece == parameters.ece));
  ReplyParameters reply = reply_parameters();
  reply.ece = {0x15B3, 7};
  wire.right.manager.reply(event.id, reply, wire.now);
  wire.settle();
  BOOST_TEST((std::get<Rep>(wire.left.expect(Told::replied).message).ece == reply.ece));
}

BOOST_AUTO_TEST_CASE(request_tells_the_path_back) {
  FakeWire wire;
  request(wire);
  wire.settle();
  const Path path = wire.right.expect(Told::requested).path;
  BOOST_TEST((path.own == wire.right.gid()));
  BOOST_TEST((path.peer == wire.left.gid()));
  BOOST_TEST(path.flow_label == 0x2C349u);
  BOOST_TEST(path.packet_lifetime.value == 16);
  BOOST_TEST((path.mtu == MtuCode::bytes_1024));
}

BOOST_AUTO_TEST_CASE(user_may_establish_before_ready_arrives) {
  FakeWire wire;
  const Ids ids = replied(wire);
  BOOST_TEST((wire.right.manager.establish(ids.right) == Result::ok));
  wire.right.expect(Told::established);
  BOOST_TEST((wire.right.manager.establish(ids.right) == Result::already_connected));
  BOOST_TEST(!wire.right.manager.next_deadline().has_value());
  wire.left.manager.ready(ids.left);
  wire.settle();
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST((wire.left.manager.establish(CommunicationId{0}) == Result::unknown_id));
}

BOOST_AUTO_TEST_CASE(calls_in_the_wrong_state_change_nothing) {
  FakeWire wire;
  const Ids ids = requested(wire);
  BOOST_TEST((wire.left.manager.ready(ids.left) == Result::wrong_state));
  BOOST_TEST((wire.left.manager.reply(ids.left, reply_parameters(), wire.now) == Result::wrong_state));
  BOOST_TEST((wire.left.manager.establish(ids.left) == Result::wrong_state));
  BOOST_TEST((wire.left.manager.disconnect(ids.left, wire.now) == Result::wrong_state));
  BOOST_TEST((wire.right.manager.establish(ids.right) == Result::wrong_state));
  BOOST_TEST((wire.right.manager.disconnect(ids.right, wire.now) == Result::wrong_state));
  wire.right.manager.reply(ids.right, reply_parameters(), wire.now);
  BOOST_TEST((wire.right.manager.reply(ids.right, reply_parameters(), wire.now) == Result::wrong_state));
  BOOST_TEST(wire.sent.size() == 2u);
}

BOOST_AUTO_TEST_CASE(both_ends_may_ask_each_other_at_once) {
  FakeWire wire;
  wire.left.manager.listen(kService, 1);
  wire.right.manager.listen(kService, 1);
  ConnectParameters parameters = connect_parameters(wire);
  const CommunicationId from_left = wire.left.manager.connect(parameters, wire.now).id;
  parameters.path = wire.right.path_to(wire.left);
  parameters.qpn = kRightQpn;
  const CommunicationId from_right = wire.right.manager.connect(parameters, wire.now).id;
  wire.settle();
  ReplyParameters reply = reply_parameters();
  reply.qpn = wire::Qpn{0x33};
  const CommunicationId at_left = wire.left.expect(Told::requested).id;
  const CommunicationId at_right = wire.right.expect(Told::requested).id;
  wire.left.manager.reply(at_left, reply, wire.now);
  wire.right.manager.reply(at_right, reply, wire.now);
  wire.settle();
  BOOST_TEST(wire.left.expect(Told::replied).id.value == from_left.value);
  BOOST_TEST(wire.right.expect(Told::replied).id.value == from_right.value);
  wire.left.manager.ready(from_left);
  wire.right.manager.ready(from_right);
  wire.settle();
  BOOST_TEST(wire.left.expect(Told::established).id.value == at_left.value);
  BOOST_TEST(wire.right.expect(Told::established).id.value == at_right.value);
}

BOOST_AUTO_TEST_CASE(an_end_connects_to_itself) {
  FakeWire wire;
  wire.left.manager.listen(kService, 1);
  ConnectParameters parameters = connect_parameters(wire);
  parameters.path = wire.left.path_to(wire.left);
  const CommunicationId active = wire.left.manager.connect(parameters, wire.now).id;
  wire.settle();
  const CommunicationId passive = wire.left.expect(Told::requested).id;
  wire.left.manager.reply(passive, reply_parameters(), wire.now);
  wire.settle();
  wire.left.expect(Told::replied);
  wire.left.manager.ready(active);
  wire.settle();
  BOOST_TEST(wire.left.expect(Told::established).id.value == passive.value);
  wire.left.manager.destroy(active, wire.now);
  wire.settle();
  BOOST_TEST(wire.left.expect(Told::disconnect_requested).id.value == passive.value);
  wire.left.manager.destroy(passive, wire.now);
  wire.run_until_quiet();
  BOOST_TEST(wire.left.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(unreliable_connections_and_xrc_are_asked_for_in_the_request) {
  FakeWire wire;
  wire.right.manager.listen(kService, 2);
  ConnectParameters parameters = connect_parameters(wire);
  parameters.service = ServiceType::unreliable;
  wire.left.manager.connect(parameters, wire.now);
  BOOST_TEST((read<Req>(wire.sent.at(0)).transport_service == TransportService::uc));
  parameters.service = ServiceType::xrc_initiator;
  parameters.qpn = wire::Qpn{0x44};
  const CommunicationId initiator = wire.left.manager.connect(parameters, wire.now).id;
  const Req req = read<Req>(wire.sent.at(1));
  BOOST_TEST((req.transport_service == TransportService::extended));
  BOOST_TEST((req.extended_transport == ExtendedTransport::xrc));
  BOOST_TEST(req.responder_resources == 0);
  BOOST_TEST(req.retry_count == 0);
  wire.settle();
  wire.right.expect(Told::requested);
  const CommunicationId target = wire.right.expect(Told::requested).id;
  wire.right.manager.reply(target, reply_parameters(), wire.now);
  const Rep rep = read<Rep>(wire.sent.at(2));
  BOOST_TEST(rep.local_qpn.value == 0u);
  BOOST_TEST(rep.local_eecn == kRightQpn.value);
  BOOST_TEST(rep.srq);
  wire.settle();
  wire.left.expect(Told::replied);
  BOOST_TEST(wire.left.manager.attributes(initiator)->rtr->destination.value == kRightQpn.value);
  parameters.service = ServiceType::xrc_target;
  BOOST_TEST((wire.left.manager.connect(parameters, wire.now).result == Result::wrong_state));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
