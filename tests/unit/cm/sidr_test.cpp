// Service id resolution.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/cm/handshake.hpp"

namespace urnic::cm::test {
namespace {

SidrRequestParameters sidr_parameters(const FakeWire& wire) {
  SidrRequestParameters parameters;
  parameters.path = wire.left.path_to(wire.right);
  parameters.service_id = kService;
  return parameters;
}

CommunicationId ask(FakeWire& wire) {
  const Started started = wire.left.manager.sidr_request(sidr_parameters(wire), wire.now);
  BOOST_REQUIRE((started.result == Result::ok));
  wire.settle();
  return started.id;
}

void expect_empty(const FakeWire& wire) {
  BOOST_TEST(wire.left.entries() == 0u);
  BOOST_TEST(wire.right.entries() == 0u);
  BOOST_TEST(!wire.left.manager.next_deadline().has_value());
}

BOOST_AUTO_TEST_SUITE(sidr)

BOOST_AUTO_TEST_CASE(request_is_answered_with_the_qp) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  const CommunicationId id = ask(wire);
  const SidrReq req = last<SidrReq>(wire);
  BOOST_TEST(req.request_id.value == id.value);
  BOOST_TEST(req.service.value == kService.value);
  BOOST_TEST(req.pkey.value == 0xFFFF);
  const Event asked = wire.right.expect(Told::sidr_requested);
  SidrReplyParameters reply;
  reply.qpn = kRightQpn;
  reply.qkey = {0x01234567};
  reply.ece = {0x15B3, 9};
  BOOST_TEST((wire.right.manager.sidr_reply(asked.id, reply) == Result::ok));
  BOOST_TEST((wire.right.manager.sidr_reply(asked.id, reply) == Result::unknown_id));
  wire.settle();
  const Event answered = wire.left.expect(Told::sidr_replied);
  BOOST_TEST(answered.id.value == id.value);
  const SidrRep rep = std::get<SidrRep>(answered.message);
  BOOST_TEST((rep.status == SidrStatus::ok));
  BOOST_TEST(rep.qpn.value == kRightQpn.value);
  BOOST_TEST(rep.qkey.value == 0x01234567u);
  BOOST_TEST(rep.service.value == kService.value);
  BOOST_TEST((rep.ece == reply.ece));
  expect_empty(wire);
}

BOOST_AUTO_TEST_CASE(nobody_listens) {
  FakeWire wire;
  ask(wire);
  const SidrRep rep = std::get<SidrRep>(wire.left.expect(Told::sidr_replied).message);
  BOOST_TEST((rep.status == SidrStatus::unsupported_service));
  BOOST_TEST(rep.qpn.value == 0u);
  expect_empty(wire);
}

BOOST_AUTO_TEST_CASE(decisions_of_the_user) {
  for (const auto& [decision, status] : {std::pair(Decision::no_service, SidrStatus::unsupported_service),
                                         std::pair(Decision::refuse, SidrStatus::rejected)}) {
    FakeWire wire;
    wire.right.manager.listen(kService, 1);
    wire.right.decision = decision;
    ask(wire);
    BOOST_TEST((std::get<SidrRep>(wire.left.expect(Told::sidr_replied).message).status == status));
    expect_empty(wire);
  }
}

BOOST_AUTO_TEST_CASE(user_answers_while_it_is_told) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  wire.right.decision = Decision::refuse;
  wire.right.on_event = [&](const Event& event) { wire.right.manager.sidr_reply(event.id, {}); };
  ask(wire);
  BOOST_TEST(wire.right.count(Message::sidr_rep) == 1u);
  BOOST_TEST((std::get<SidrRep>(wire.left.expect(Told::sidr_replied).message).status == SidrStatus::ok));
  expect_empty(wire);
}

BOOST_AUTO_TEST_CASE(dropped_request_comes_again) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  wire.right.decision = Decision::drop;
  ask(wire);
  wire.right.expect(Told::sidr_requested);
  BOOST_TEST(wire.right.entries() == 0u);
  BOOST_TEST(wire.right.manager.counters({}).dropped_requests == 1u);
  wire.right.decision = Decision::keep;
  wire.run(5s);
  wire.right.expect(Told::sidr_requested);
}

BOOST_AUTO_TEST_CASE(request_that_the_user_destroys_is_rejected) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  ask(wire);
  wire.right.manager.destroy(wire.right.expect(Told::sidr_requested).id, wire.now);
  wire.settle();
  const SidrRep rep = std::get<SidrRep>(wire.left.expect(Told::sidr_replied).message);
  BOOST_TEST((rep.status == SidrStatus::rejected));
  expect_empty(wire);
}

BOOST_AUTO_TEST_CASE(repeated_request_is_told_once) {
  FakeWire wire;
  wire.right.manager.listen(kService, 5);
  ask(wire);
  wire.run(10s);
  BOOST_TEST(wire.left.count(Message::sidr_req) == 3u);
  wire.right.expect(Told::sidr_requested);
  BOOST_TEST(wire.right.quiet());
  BOOST_TEST(wire.right.manager.counters({}).duplicates[static_cast<std::size_t>(Message::sidr_req)] == 2u);
}

BOOST_AUTO_TEST_CASE(request_is_sent_sixteen_times_and_given_up) {
  FakeWire wire;
  wire.faults.lose = 1000;
  const CommunicationId id = ask(wire);
  wire.run_until_quiet();
  BOOST_TEST((wire.now - Time{} == 16 * 4096ms));
  BOOST_TEST(wire.left.count(Message::sidr_req) == 16u);
  const Event event = wire.left.expect(Told::unanswered);
  BOOST_TEST(event.id.value == id.value);
  BOOST_TEST((event.missing == Unanswered::sidr_request));
  expect_empty(wire);
}

BOOST_AUTO_TEST_CASE(destroyed_request_has_no_answer_any_more) {
  FakeWire wire;
  wire.right.manager.listen(kService, 5);
  wire.left.manager.destroy(ask(wire), wire.now);
  const CommunicationId asked = wire.right.expect(Told::sidr_requested).id;
  wire.right.manager.sidr_reply(asked, {});
  wire.settle();
  BOOST_TEST(wire.left.quiet());
  expect_empty(wire);
}

BOOST_AUTO_TEST_CASE(private_data_have_limits) {
  FakeWire wire;
  wire.right.manager.listen(kService, 1);
  const std::vector<std::byte> bytes(217);
  SidrRequestParameters parameters = sidr_parameters(wire);
  parameters.private_data = bytes;
  BOOST_TEST((wire.left.manager.sidr_request(parameters, wire.now).result == Result::too_long));
  parameters.private_data = std::span(bytes).first(216);
  BOOST_TEST((wire.left.manager.sidr_request(parameters, wire.now).result == Result::ok));
  wire.settle();
  const CommunicationId asked = wire.right.expect(Told::sidr_requested).id;
  SidrReplyParameters reply;
  reply.private_data = std::span(bytes).first(137);
  BOOST_TEST((wire.right.manager.sidr_reply(asked, reply) == Result::too_long));
  reply.private_data = std::span(bytes).first(136);
  BOOST_TEST((wire.right.manager.sidr_reply(asked, reply) == Result::ok));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::cm::test
