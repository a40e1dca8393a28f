// The attributes of a connection's QP.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

Attributes attributes(const End& end, CommunicationId id) { return end.manager.attributes(id).value(); }

void expect_path(const Path& path, const End& own, const End& peer) {
  BOOST_TEST((path.own == own.gid()));
  BOOST_TEST((path.peer == peer.gid()));
  BOOST_TEST(path.flow_label == 0x2C349u);
  BOOST_TEST(path.hop_limit == 64);
  BOOST_TEST((path.mtu == MtuCode::bytes_1024));
}

BOOST_AUTO_TEST_SUITE(attributes_of_the_qp)

BOOST_AUTO_TEST_CASE(active_side_knows_the_peer_with_the_reply) {
  FakeWire wire;
  const Ids ids = requested(wire);
  BOOST_TEST(attributes(wire.left, ids.left).init.has_value());
  BOOST_TEST(attributes(wire.left, ids.left).init->remote_read_and_atomic);
  BOOST_TEST(!attributes(wire.left, ids.left).rtr.has_value());
  BOOST_TEST(!attributes(wire.left, ids.left).rts.has_value());
  wire.right.manager.reply(ids.right, reply_parameters(), wire.now);
  wire.settle();
  const Attributes left = attributes(wire.left, ids.left);
  expect_path(left.rtr->path, wire.left, wire.right);
  BOOST_TEST(left.rtr->destination.value == kRightQpn.value);
  // REP: responder resources 3, initiator depth 2.
  BOOST_TEST(left.rtr->responder_resources == 2);
  BOOST_TEST(left.rts->initiator_depth == 3);
  BOOST_TEST(left.rtr->min_rnr_timer == 0);
  BOOST_TEST(left.rts->timeout.value == 17);
  BOOST_TEST(left.rts->retry_count == 7);
  BOOST_TEST(left.rts->rnr_retry == 5);
}

BOOST_AUTO_TEST_CASE(passive_side_may_go_to_rts_before_its_reply) {
  FakeWire wire;
  const Ids ids = requested(wire);
  const Attributes before = attributes(wire.right, ids.right);
  expect_path(before.rtr->path, wire.right, wire.left);
  BOOST_TEST(before.rtr->destination.value == kLeftQpn.value);
  // REQ: responder resources 4, initiator depth 2.
  BOOST_TEST(before.rtr->responder_resources == 2);
  BOOST_TEST(before.rts->initiator_depth == 4);
  BOOST_TEST(before.rts->timeout.value == 17);
  BOOST_TEST(before.rts->retry_count == 7);
  BOOST_TEST(before.rts->rnr_retry == 7);
  wire.right.manager.reply(ids.right, reply_parameters(), wire.now);
  const Attributes after = attributes(wire.right, ids.right);
  BOOST_TEST(after.rtr->responder_resources == 3);
  BOOST_TEST(after.rts->initiator_depth == 2);
  BOOST_TEST(after.rtr->receive_psn.value() == before.rtr->receive_psn.value());
  BOOST_TEST(last<Rep>(wire).starting_psn.value() == before.rtr->receive_psn.value());
}

BOOST_AUTO_TEST_CASE(each_end_begins_to_send_where_the_other_expects_it) {
  FakeWire wire;
  const Ids ids = connected(wire);
  const Attributes left = attributes(wire.left, ids.left);
  const Attributes right = attributes(wire.right, ids.right);
  BOOST_TEST(left.rts->send_psn.value() == right.rtr->receive_psn.value());
  BOOST_TEST(right.rts->send_psn.value() == left.rtr->receive_psn.value());
  BOOST_TEST(left.rtr->receive_psn.value() != right.rtr->receive_psn.value());
}

BOOST_AUTO_TEST_CASE(without_responder_resources_no_reads_are_allowed) {
  FakeWire wire;
  ConnectParameters parameters = connect_parameters(wire);
  parameters.responder_resources = 0;
  const CommunicationId id = wire.left.manager.connect(parameters, wire.now).id;
  BOOST_TEST(!attributes(wire.left, id).init->remote_read_and_atomic);
  BOOST_TEST(attributes(wire.left, id).init->remote_write);
}

BOOST_AUTO_TEST_CASE(ack_timeout_has_the_larger_of_the_way_and_the_peer_s_delay) {
  FakeWire wire;
  wire.right.manager.listen(kService, 8);
  // The packet lifetime, and the timeout that the REQ then carries: the ends' ACK delay is 15.
  for (const auto& [lifetime, timeout] :
       {std::pair{16, 17}, {14, 16}, {15, 17}, {13, 16}, {12, 15}, {31, 31}}) {
    ConnectParameters parameters = connect_parameters(wire);
    parameters.path.packet_lifetime = {static_cast<std::uint8_t>(lifetime)};
    parameters.qpn = wire::Qpn{static_cast<std::uint32_t>(100 + lifetime)};
    wire.left.manager.connect(parameters, wire.now);
    BOOST_TEST(last<Req>(wire).primary.local_ack_timeout.value == timeout);
    wire.settle();
    const CommunicationId id = wire.right.expect(Told::requested).id;
    BOOST_TEST(attributes(wire.right, id).rts->timeout.value == timeout);
  }
}

BOOST_AUTO_TEST_CASE(ack_delay_of_the_passive_side_comes_with_its_reply) {
  FakeWire wire;
  wire.right.ack_delay = {20};
  const Ids ids = replied(wire);
  BOOST_TEST(attributes(wire.left, ids.left).rts->timeout.value == 20);
  BOOST_TEST(attributes(wire.right, ids.right).rts->timeout.value == 17);
}

BOOST_AUTO_TEST_CASE(there_are_none_once_the_connection_ends) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.disconnect(ids.left, wire.now);
  BOOST_TEST(!attributes(wire.left, ids.left).init.has_value());
  wire.settle();
  BOOST_TEST(!attributes(wire.right, ids.right).rts.has_value());
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  BOOST_TEST(!attributes(wire.left, ids.left).init.has_value());
  wire.run(1s);
  BOOST_TEST(!attributes(wire.left, ids.left).init.has_value());
  wire.left.manager.destroy(ids.left, wire.now);
  BOOST_TEST(!wire.left.manager.attributes(ids.left).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
