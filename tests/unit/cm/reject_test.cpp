// REJ: its sender, its reasons, and what it ends.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

constexpr std::array<std::byte, 8> kWords{std::byte{'s'}, std::byte{'o'}, std::byte{'r'}, std::byte{'r'},
                                          std::byte{'y'}};

RejectParameters because(RejectReason reason) {
  RejectParameters parameters;
  parameters.reason = reason;
  parameters.private_data = kWords;
  return parameters;
}

RejectReason reason_told(End& end) { return std::get<Rej>(end.expect(Told::rejected).message).reason; }

// A REQ that somebody else made, as it arrives at right.
void arrives(FakeWire& wire, const Req& req) {
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(req, TransactionId{7})});
  wire.settle();
}

// A REQ that right would take.
Req foreign_request(FakeWire& wire) {
  wire.right.manager.listen(kService, 4);
  Req req;
  req.local_id = {77};
  req.service = kService;
  req.local_ca_guid = End::ca_guid(1);
  req.local_qpn = kLeftQpn;
  req.path_mtu = MtuCode::bytes_1024;
  req.primary.local_gid = wire.left.gid();
  req.primary.remote_gid = wire.right.gid();
  return req;
}

BOOST_AUTO_TEST_SUITE(reject)

BOOST_AUTO_TEST_CASE(user_rejects_a_request) {
  FakeWire wire;
  const Ids ids = requested(wire);
  BOOST_TEST((wire.right.manager.reject(ids.right, because(RejectReason::consumer), wire.now) == Result::ok));
  wire.settle();
  const Event event = wire.left.expect(Told::rejected);
  const Rej rej = std::get<Rej>(event.message);
  BOOST_TEST(event.id.value == ids.left.value);
  BOOST_TEST((rej.reason == RejectReason::consumer));
  BOOST_TEST((rej.rejected == RejectedMessage::req));
  BOOST_TEST(rej.local_id.value == ids.right.value);
  BOOST_TEST(rej.remote_id.value == ids.left.value);
  BOOST_TEST((std::ranges::equal(std::span(rej.private_data).first(8), kWords)));
  BOOST_TEST(!wire.left.manager.next_deadline().has_value());
  BOOST_TEST((wire.right.manager.reject(ids.right, {}, wire.now) == Result::wrong_state));
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(user_rejects_a_reply) {
  FakeWire wire;
  const Ids ids = replied(wire);
  BOOST_TEST((wire.left.manager.reject(ids.left, because(RejectReason::vendor_option_not_supported),
                                       wire.now) == Result::ok));
  wire.settle();
  BOOST_TEST((last<Rej>(wire).rejected == RejectedMessage::rep));
  BOOST_TEST((reason_told(wire.right) == RejectReason::vendor_option_not_supported));
  BOOST_TEST(!wire.right.manager.next_deadline().has_value());
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(user_takes_its_reply_back) {
  FakeWire wire;
  const Ids ids = replied(wire);
  wire.right.manager.reject(ids.right, because(RejectReason::consumer), wire.now);
  wire.settle();
  BOOST_TEST((last<Rej>(wire).rejected == RejectedMessage::other));
  BOOST_TEST((reason_told(wire.left) == RejectReason::consumer));
  wire.run(1s);
  wire.left.expect(Told::time_wait_over);
  wire.right.expect(Told::time_wait_over);
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(every_reason_reaches_the_user) {
  for (std::uint16_t reason = 1; reason <= 35; ++reason) {
    // A REJ for a time-out names the connection by its GUID.
    if (reason == static_cast<std::uint16_t>(RejectReason::timeout)) continue;
    BOOST_TEST_CONTEXT("reason " << reason) {
      FakeWire wire;
      const Ids ids = requested(wire);
      wire.right.manager.reject(ids.right, because(static_cast<RejectReason>(reason)), wire.now);
      wire.settle();
      BOOST_TEST(static_cast<std::uint16_t>(reason_told(wire.left)) == reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(private_data_of_a_rejection_have_a_limit) {
  FakeWire wire;
  const Ids ids = requested(wire);
  const std::vector<std::byte> bytes(149);
  RejectParameters parameters;
  parameters.private_data = bytes;
  BOOST_TEST((wire.right.manager.reject(ids.right, parameters, wire.now) == Result::too_long));
  parameters.private_data = std::span(bytes).first(148);
  BOOST_TEST((wire.right.manager.reject(ids.right, parameters, wire.now) == Result::ok));
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
  FakeWire wire;
  const Started started = wire.left.manager.connect(connect_parameters(wire), wire.now);
  wire.settle();
  const Event event = wire.left.expect(Told::rejected);
  const Rej rej = std::get<Rej>(event.message);
  BOOST_TEST(event.id.value == started.id.value);
  BOOST_TEST((rej.reason == RejectReason::invalid_service_id));
  BOOST_TEST(rej.local_id.value == 0u);
  BOOST_TEST((rej.rejected == RejectedMessage::req));
  BOOST_TEST(wire.right.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(user_has_no_listener_at_the_address) {
  FakeWire wire;
  wire.right.decision = Decision::no_service;
  request(wire);
  wire.settle();
  wire.right.expect(Told::requested);
  BOOST_TEST(last<Rej>(wire).local_id.value == 0u);
  BOOST_TEST((reason_told(wire.left) == RejectReason::invalid_service_id));
  BOOST_TEST(wire.right.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(user_refuses_at_once) {
  FakeWire wire;
  wire.right.decision = Decision::refuse;
  request(wire);
  wire.settle();
  BOOST_TEST(last<Rej>(wire).local_id.value == 0u);
  BOOST_TEST((reason_told(wire.left) == RejectReason::consumer));
  BOOST_TEST(wire.right.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(user_answers_while_it_is_told) {
  FakeWire wire;
  wire.right.on_event = [&](const Event& event) {
    if (event.told == Told::requested) wire.right.manager.reject(event.id, {}, wire.now);
  };
  request(wire);
  wire.settle();
  BOOST_TEST((reason_told(wire.left) == RejectReason::consumer));
  BOOST_TEST(last<Rej>(wire).local_id.value == 0u);
}

BOOST_AUTO_TEST_CASE(user_accepts_while_it_is_told) {
  FakeWire wire;
  wire.right.on_event = [&](const Event& event) {
    if (event.told == Told::requested) wire.right.manager.reply(event.id, reply_parameters(), wire.now);
  };
  const CommunicationId id = request(wire);
  wire.settle();
  wire.left.expect(Told::replied);
  wire.left.manager.ready(id);
  wire.settle();
  wire.right.expect(Told::requested);
  wire.right.expect(Told::established);
}

BOOST_AUTO_TEST_CASE(user_destroys_while_it_is_told) {
  FakeWire wire;
  wire.right.on_event = [&](const Event& event) {
    if (event.told == Told::requested) wire.right.manager.destroy(event.id, wire.now);
  };
  request(wire);
  wire.settle();
  BOOST_TEST((reason_told(wire.left) == RejectReason::consumer));
  BOOST_TEST(wire.right.entries() == 0u);
}

BOOST_AUTO_TEST_CASE(request_given_up_is_found_by_the_guid) {
  FakeWire wire;
  const Ids ids = requested(wire);
  wire.left.manager.destroy(ids.left, wire.now);
  wire.settle();
  const Rej rej = last<Rej>(wire);
  BOOST_TEST((rej.rejected == RejectedMessage::other));
  BOOST_TEST(rej.remote_id.value == 0u);
  BOOST_TEST(rej.information.length == 8);
  const Event event = wire.right.expect(Told::rejected);
  BOOST_TEST(event.id.value == ids.right.value);
  BOOST_TEST((std::get<Rej>(event.message).reason == RejectReason::timeout));
  BOOST_TEST((wire.right.manager.reply(ids.right, reply_parameters(), wire.now) == Result::wrong_state));
  expect_nothing_left(wire, ids);
}

BOOST_AUTO_TEST_CASE(time_out_without_a_guid_ends_nothing) {
  FakeWire wire;
  const Ids ids = requested(wire);
  Rej rej;
  rej.local_id = ids.left;
  rej.remote_id = ids.right;
  rej.rejected = RejectedMessage::other;
  rej.reason = RejectReason::timeout;
  rej.information.length = 7;  // one byte too few for the GUID behind it
  for (std::size_t i = 0; i < 8; ++i) {
    rej.information.bytes[i] = static_cast<std::byte>(End::ca_guid(1).value >> (56 - 8 * i));
  }
  wire.put(wire.right, {{}, {wire.right.gid(), wire.left.gid()}, encode(rej, {})});
  wire.settle();
  BOOST_TEST(wire.right.quiet());
}

BOOST_AUTO_TEST_CASE(rejection_of_a_request_counts_only_before_the_reply) {
  FakeWire wire;
  const Ids ids = connected(wire);
  Rej rej;
  rej.remote_id = ids.left;
  rej.reason = RejectReason::consumer;
  wire.put(wire.left, {{}, {wire.left.gid(), wire.right.gid()}, encode(rej, {})});
  wire.settle();
  BOOST_TEST(wire.left.quiet());
  BOOST_TEST(wire.left.manager.attributes(ids.left)->rts.has_value());
}

BOOST_AUTO_TEST_CASE(rejection_of_an_established_connection_ends_it) {
  FakeWire wire;
  const Ids ids = connected(wire);
  Rej rej;
  rej.local_id = ids.right;
  rej.remote_id = ids.left;
  rej.rejected = RejectedMessage::other;
  rej.reason = RejectReason::no_resources;
  wire.put(wire.left, {{}, {wire.left.gid(), wire.right.gid()}, encode(rej, {})});
  wire.run(1s);
  BOOST_TEST((reason_told(wire.left) == RejectReason::no_resources));
  wire.left.expect(Told::time_wait_over);
}

BOOST_AUTO_TEST_CASE(stale_request_goes_through_time_wait) {
  FakeWire wire;
  const Ids ids = requested(wire);
  wire.right.manager.reject(ids.right, because(RejectReason::stale_connection), wire.now);
  wire.settle();
  BOOST_TEST((reason_told(wire.left) == RejectReason::stale_connection));
  BOOST_TEST(wire.left.manager.next_deadline().has_value());
  wire.run(1s);
  wire.left.expect(Told::time_wait_over);
}

BOOST_AUTO_TEST_CASE(unknown_transports_are_refused) {
  FakeWire wire;
  Req req = foreign_request(wire);
  req.transport_service = TransportService::rd;
  arrives(wire, req);
  BOOST_TEST((last<Rej>(wire).reason == RejectReason::invalid_transport_service));
  req.transport_service = TransportService::extended;
  req.extended_transport = static_cast<ExtendedTransport>(5);
  arrives(wire, req);
  BOOST_TEST(wire.right.count(Message::rej) == 2u);
  BOOST_TEST(wire.right.entries() == 0u);
  req.extended_transport = ExtendedTransport::xrc;
  arrives(wire, req);
  wire.right.expect(Told::requested);
}

BOOST_AUTO_TEST_CASE(mtu_that_the_port_has_not_is_refused) {
  FakeWire wire;
  Req req = foreign_request(wire);
  wire.right.mtu = MtuCode::bytes_1024;
  for (const auto mtu : {MtuCode{0}, MtuCode::bytes_2048, MtuCode{15}}) {
    req.path_mtu = mtu;
    arrives(wire, req);
    const Rej rej = last<Rej>(wire);
    BOOST_TEST((rej.reason == RejectReason::invalid_mtu));
    BOOST_TEST(rej.information.length == 1);
    BOOST_TEST(std::to_integer<int>(rej.information.bytes[0]) == 3);
  }
  BOOST_TEST(wire.right.count(Message::rej) == 3u);
  BOOST_TEST(wire.right.quiet());
}

BOOST_AUTO_TEST_CASE(gid_that_the_device_has_not_is_refused) {
  FakeWire wire;
  Req req = foreign_request(wire);
  req.primary.remote_gid = End::gid(9);
  arrives(wire, req);
  const Rej rej = last<Rej>(wire);
  BOOST_TEST((rej.reason == RejectReason::invalid_gid));
  BOOST_TEST(rej.information.length == 16);
  BOOST_TEST(std::to_integer<int>(rej.information.bytes[15]) == 2);
  BOOST_TEST(wire.right.quiet());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
