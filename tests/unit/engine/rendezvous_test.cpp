// Rendezvous: the device reads what a message offers into the buffer that it matched.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "device_model/engine/receives/rendezvous_queue.hpp"
#include "tests/unit/engine/tagged_fixture.hpp"

namespace urnic::engine::test {

BOOST_FIXTURE_TEST_SUITE(rendezvous, Tagged)

BOOST_AUTO_TEST_CASE(the_device_reads_what_is_offered_and_says_so) {
  const abi::ScatterGather to[] = {program0.sge(0, 64)};
  peer0.post_receive(to);
  add(3, 7);
  offer(peer0, 7, 8000);
  const Polled match = expect(kTagged, 3, kMatchOnly);
  BOOST_TEST(info(match).tag == 7u);
  BOOST_TEST(info(match).user_data == kUserData);
  const Polled end = expect(kTagged, 3, kDataOnly);
  BOOST_TEST(end.byte_length == 8000u);
  BOOST_TEST(end.qpn == qp0->qpn().value);
  BOOST_TEST(info(end).tag == 0u);
  BOOST_TEST(program1.holds(buffer(3), 8000, kSeed));

  const auto finish = peer0.poll_receive();
  BOOST_REQUIRE(finish);
  BOOST_TEST(finish->opcode == kReceive);
  BOOST_TEST(finish->byte_length == 32u);
  BOOST_TEST((program0.bytes[0] == std::byte{kFinish}));
  BOOST_TEST(std::memcmp(&program0.bytes[1], &program0.bytes[kSource + 1], 31) == 0);
}

BOOST_AUTO_TEST_CASE(nothing_offered_is_nothing_read) {
  const abi::ScatterGather to[] = {program0.sge(0, 64)};
  peer0.post_receive(to);
  add(3, 7);
  write_offer(7, 0, 0xBAD);
  post_message(peer0, 32);
  run();
  expect(kTagged, 3, kMatchOnly);
  BOOST_TEST(expect(kTagged, 3, kDataOnly).byte_length == 0u);
  BOOST_TEST(peer0.poll_receive().has_value());
}

BOOST_AUTO_TEST_CASE(an_offer_that_no_buffer_wants_is_software_s) {
  post_receive(2);
  offer(peer0, 7, 8000);
  BOOST_TEST(expect(kTagged, 2, 0).byte_length == 48u);
  BOOST_TEST(std::memcmp(&program1.bytes[2 * 8192], &program0.bytes[kSource], 48) == 0);
  BOOST_TEST(device0.counters().received_read_requests == 0u);
}

BOOST_AUTO_TEST_CASE(an_offer_that_is_too_large_for_its_buffer_is_software_s) {
  add(3, 7, kEveryBit, 100);
  add(4, 7, kEveryBit, 20);
  offer(peer0, 7, 101);
  offer(peer0, 7, 101);
  const Polled polled = expect(kTagged, 3, kWhole, kIncomplete);
  BOOST_TEST(polled.byte_length == 48u);
  BOOST_TEST(info(polled).tag == 7u);
  BOOST_TEST(std::memcmp(&program1.bytes[buffer(3)], &program0.bytes[kSource], 48) == 0);
  BOOST_TEST(expect(kTagged, 4, kWhole, kIncomplete).byte_length == 20u);
  BOOST_TEST(state_of(*qp0) != kError);
  add(3, 7, kEveryBit, 101);
  offer(peer0, 7, 101);
  expect(kTagged, 3, kMatchOnly);
}

BOOST_AUTO_TEST_CASE(a_queue_pair_that_may_not_read_leaves_it_to_software) {
  engine.execute([&] {
    transport::QpParameters parameters = Fabric::parameters(peer0, 1024);
    parameters.max_reads = 0;
    qp0->device_end().modify(QpState::rts, parameters, {});
  });
  add(3, 7);
  offer(peer0, 7, 100);
  expect(kTagged, 3, kWhole, kIncomplete);
}

BOOST_AUTO_TEST_CASE(a_bad_key_ends_the_buffer_and_the_queue_pair) {
  add(3, 7);
  add(4, 8);
  write_offer(7, 100, program0.key.value ^ 0xFF00);
  post_message(peer0, 48);
  run();
  expect(kTagged, 3, kMatchOnly);
  expect(kTagged, 3, kEndOnly, kRemoteAccessError);
  BOOST_TEST(state_of(*qp0) == kError);
  send(peer1, kEager, 8, 100);
  expect(kTagged, 4, kWhole);
  add(3, 7);
  send(peer1, kEager, 7, 100);
  expect(kTagged, 3, kWhole);
}

BOOST_AUTO_TEST_CASE(more_than_can_be_under_way_come_all_the_same) {
  constexpr std::uint32_t kMany = RendezvousQueue::kMost + 20;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    const abi::ScatterGather finish[] = {program0.sge(i * 64, 64)};
    peer0.post_receive(finish);
    add(i, 7, kEveryBit, 500);
  }
  write_offer(7, 500, program0.key.value);
  for (std::uint32_t i = 0; i < kMany; ++i) post_message(peer0, 48);
  for (int i = 0; i < 100; ++i) advance(transport::Nanoseconds(1'000'000));
  std::uint32_t matched = 0;
  std::uint32_t ended = 0;
  while (const auto polled = tags.cq.poll()) {
    BOOST_TEST(polled->status == 0);
    (polled->tag_flags == kMatchOnly ? matched : ended) += 1;
  }
  BOOST_TEST(matched == kMany);
  BOOST_TEST(ended == kMany);
  for (std::uint32_t i = 0; i < kMany; ++i) BOOST_TEST(peer0.poll_receive().has_value());
  for (std::uint32_t i = 0; i < kMany; ++i) BOOST_TEST(program1.holds(buffer(i), 500, kSeed));
}

BOOST_AUTO_TEST_CASE(reads_under_way_are_flushed_with_their_queue_pair) {
  for (const bool by_reset : {true, false}) {
    Tagged fixture;
    fixture.add(3, 7);
    fixture.write_offer(7, 8000, fixture.program0.key.value);
    fixture.post_message(fixture.peer0, 48);
    fixture.run_sends_of_program0();
    fixture.expect(kTagged, 3, kMatchOnly);
    fixture.engine.execute([&] {
      fixture.qp0->device_end().modify(by_reset ? QpState::reset : QpState::error,
                                       Fabric::parameters(fixture.peer0, 1024), {});
    });
    fixture.run();
    const Polled end = fixture.next();
    BOOST_TEST(end.wqe_index == 3u);
    BOOST_TEST((end.status == kFlushed || end.status == 0));
    fixture.add(3, 7);
    fixture.send(fixture.peer1, kEager, 7, 100);
    fixture.expect(kTagged, 3, kWhole);
    BOOST_TEST(!fixture.srq.device_end->broken());
  }
}

// The peer has no receive for it, and does not get one.
BOOST_AUTO_TEST_CASE(a_peer_that_cannot_be_told_is_an_event) {
  engine.execute([&] {
    transport::QpParameters parameters = Fabric::parameters(peer0, 1024);
    parameters.rnr_retry = 0;
    qp0->device_end().modify(QpState::rts, parameters, {});
  });
  add(3, 7);
  offer(peer0, 7, 100);
  expect(kTagged, 3, kMatchOnly);
  expect(kTagged, 3, kDataOnly);
  for (int i = 0; i < 10; ++i) advance(transport::Nanoseconds(10'000'000));
  BOOST_TEST(state_of(*qp0) == kError);
  const std::vector<std::uint32_t> told = events();
  BOOST_TEST((std::find(told.begin(), told.end(), kEventQpFatal) != told.end()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
