// Stale connections: only one end still knows the connection.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

BOOST_AUTO_TEST_SUITE(stale)

BOOST_AUTO_TEST_CASE(request_with_the_qp_of_a_live_connection_is_refused_and_ends_that_one) {
  FakeWire wire;
  const Ids ids = connected(wire);
  // Left's second REQ has the QP of the first connection, as that of a host that has restarted.
  const Started second = wire.left.manager.connect(connect_parameters(wire), wire.now);
  wire.settle();
  BOOST_TEST(wire.right.quiet());
  const Event event = wire.left.expect(Told::rejected);
  BOOST_TEST(event.id.value == second.id.value);
  const Rej rej = std::get<Rej>(event.message);
  BOOST_TEST((rej.reason == RejectReason::stale_connection));
  BOOST_TEST(rej.local_id.value == 0u);
  const Dreq dreq = last<Dreq>(wire);
  BOOST_TEST(dreq.local_id.value == ids.right.value);
  BOOST_TEST(wire.left.expect(Told::disconnect_requested).id.value == ids.left.value);
  wire.left.manager.disconnect(ids.left, wire.now);
  wire.run(1s);
  BOOST_TEST((wire.right.expect(Told::disconnected).how == Disconnected::answered));
}

BOOST_AUTO_TEST_CASE(qp_may_be_used_again_once_its_connection_is_in_time_wait) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.left.manager.destroy(ids.left, wire.now);
  wire.settle();
  wire.right.expect(Told::disconnect_requested);
  wire.right.manager.disconnect(ids.right, wire.now);
  wire.settle();
  wire.left.manager.connect(connect_parameters(wire), wire.now);
  wire.settle();
  wire.right.expect(Told::requested);
}

BOOST_AUTO_TEST_CASE(qp_may_be_used_again_once_the_user_has_destroyed_the_connection) {
  FakeWire wire;
  const Ids ids = connected(wire);
  wire.loses = [&](const End& to, const Mad& mad) {
    return &to == &wire.left && kind_of(mad) == Message::dreq;
  };
  wire.right.manager.destroy(ids.right, wire.now);
  wire.settle();
  wire.left.manager.connect(connect_parameters(wire), wire.now);
  wire.settle();
  wire.right.expect(Told::requested);
}

BOOST_AUTO_TEST_CASE(reply_with_the_qp_of_a_live_connection_is_refused_and_ends_that_one) {
  FakeWire wire;
  const Ids ids = connected(wire);
  ConnectParameters parameters = connect_parameters(wire);
  parameters.qpn = wire::Qpn{0x77};
  const CommunicationId second = wire.left.manager.connect(parameters, wire.now).id;
  wire.settle();
  const CommunicationId at_right = wire.right.expect(Told::requested).id;
  wire.right.manager.reply(at_right, reply_parameters(),
                           wire.now);  // with right's QP of the first connection
  wire.settle();
  const Event event = wire.right.expect(Told::rejected);
  BOOST_TEST(event.id.value == at_right.value);
  const Rej rej = std::get<Rej>(event.message);
  BOOST_TEST((rej.reason == RejectReason::stale_connection));
  BOOST_TEST((rej.rejected == RejectedMessage::rep));
  BOOST_TEST(rej.local_id.value == second.value);
  BOOST_TEST(wire.right.expect(Told::disconnect_requested).id.value == ids.right.value);
  BOOST_TEST(wire.left.quiet());
}

BOOST_AUTO_TEST_CASE(reply_with_the_id_of_another_connection_is_dropped) {
  FakeWire wire;
  const Ids ids = connected(wire);
  ConnectParameters parameters = connect_parameters(wire);
  parameters.qpn = wire::Qpn{0x77};
  const CommunicationId second = wire.left.manager.connect(parameters, wire.now).id;
  Rep rep = read<Rep>(wire.sent.at(1));
  BOOST_TEST(rep.local_id.value == ids.right.value);
  rep.remote_id = second;
  rep.local_qpn = wire::Qpn{0x88};
  wire.put(wire.left, {{}, {wire.left.gid(), wire.right.gid()}, encode(rep, {})});
  wire.settle();
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.left.count(Message::rej) == 0u);
}

BOOST_AUTO_TEST_CASE(devices_with_other_guids_may_have_the_same_qp_number) {
  FakeWire wire;
  connected(wire);
  Req req = read<Req>(wire.sent.at(0));
  req.local_ca_guid = {0x99};
  req.local_id = {5};
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(req, {})});
  wire.settle();
  wire.right.expect(Told::requested);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
