// Sends as no libmlx5 writes them: the device survives, and reads nothing outside of the ring.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/mlx5_rings/send_ends.hpp"

namespace urnic::engine::mlx5::test {

using transport::QpService;
using transport::SendRequest;
using transport::WorkOpcode;

BOOST_AUTO_TEST_SUITE(hostile_sends)

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_malformed_and_the_next_is_not) {
  const auto some = pattern(20);
  const auto unbinding = [](std::uint8_t flags, std::uint64_t fields) {
    return Bytes().u8(flags).zeros(7).u64(fields).zeros(32).u8(0x40).zeros(63);
  };
  const struct {
    const char* what;
    QpService service;
    std::uint8_t opcode;
    Bytes segments;
    Flaw flaw{};
  } cases[] = {
      {"block number", QpService::rc, kSend, data(1, 2, 3), {.block = 77}},
      {"modifier", QpService::rc, kSend, data(1, 2, 3), {.modifier = 1}},
      {"TCP segmentation", QpService::raw_packet, kTso, ethernet(some)},
      {"masked swap", QpService::rc, kMaskedSwap,
       remote(1, 2) + operands(1, 2) + operands(3, 4) + data(8, 1, 2)},
      {"masked add", QpService::rc, kMaskedAdd, remote(1, 2) + operands(1, 2) + data(8, 1, 2)},
      {"unknown opcode", QpService::rc, 0x7F, {}},
      {"write without address", QpService::rc, kWrite, {}},
      {"atomic without operands", QpService::rc, kSwap, remote(1, 2)},
      {"inline read", QpService::rc, kRead, remote(1, 2) + inlined(some)},
      {"inline atomic", QpService::rc, kAdd, remote(1, 2) + operands(1, 2) + inlined(pattern(8))},
      {"inline data behind the end", QpService::rc, kSend, Bytes().u32(0x80000000u | 13).zeros(12)},
      {"huge inline data", QpService::rc, kSend, Bytes().u32(0xFFFFFFFF).zeros(12)},
      {"inline data behind a segment", QpService::rc, kSend, data(1, 2, 3) + inlined(some)},
      {"datagram without address", QpService::ud, kSend, {}},
      {"half an address", QpService::ud, kSend, Bytes().u32(1).u32(0).u32(0x80000002).zeros(20)},
      {"short address", QpService::ud, kSend, Bytes().u32(1).u32(0).u32(2).zeros(8).u16(0x0275).zeros(26)},
      {"address that is no handle", QpService::ud, kSend, Bytes().u32(1).u32(0).u32(0x80000002).zeros(36)},
      {"XRC without SRQ", QpService::xrc_initiator, kSend, {}},
      {"raw packet without Ethernet", QpService::raw_packet, kSend, {}},
      {"Ethernet header behind the end", QpService::raw_packet, kSend, Bytes().zeros(12).u16(19).zeros(18)},
      {"huge Ethernet header", QpService::raw_packet, kSend, Bytes().zeros(12).u16(0xFFFF).zeros(2)},
      {"change of keys without a key", QpService::rc, kUmr, {}},
      {"half a change of keys", QpService::rc, kUmr,
       Bytes().u8(0x90).zeros(7).u64(1 << 29 | 1 << 13).zeros(32)},
      {"another change of keys", QpService::rc, kUmr, unbinding(0x98, 1 << 29 | 1 << 13 | 1 << 12)},
      {"a change of rights alone", QpService::rc, kUmr, unbinding(0x98, 1 << 13)},
      {"unknown flag of a change", QpService::rc, kUmr, unbinding(0x99, 1 << 29 | 1 << 13)},
      {"translation elsewhere", QpService::rc, kUmr, unbinding(0x18, 1 << 29 | 1 << 13)},
      {"bind without region", QpService::rc, kUmr,
       Bytes().u8(0x90).zeros(7).u64(1 << 29 | 1 << 13).zeros(32 + 64)},
      {"bind without length", QpService::rc, kUmr,
       Bytes().u8(0x90).zeros(7).u64(1 << 29 | 1 << 13).zeros(32 + 64) + data(0, 1, 0)},
      {"bind of another length", QpService::rc, kUmr,
       Bytes().u8(0x90).zeros(7).u64(1 << 29 | 1 << 13).zeros(32 + 24).u64(5).zeros(32) + data(4, 1, 0)},
      {"bind from another start", QpService::rc, kUmr,
       Bytes().u8(0x90).zeros(7).u64(1 << 29 | 1 << 13).zeros(32 + 16).u64(99).u64(4).zeros(32) +
           data(4, 1, 7)},
  };
  // What the others differ from makes sense.
  SendEnds sound;
  sound.program.post(kUmr, kUpdate, 0, unbinding(0x98, 1 << 29 | 1 << 13));
  BOOST_TEST(!sound.take().malformed);
  for (const auto& c : cases) {
    BOOST_TEST_INFO_SCOPE(c.what);
    SendEnds ends(16, c.service);
    ends.program.post(c.opcode, kUpdate, 0, c.segments, c.flaw);
    ends.program.post(kNop);
    const SendRequest request = ends.take();
    BOOST_TEST(request.malformed);
    BOOST_TEST(request.sges.empty());
    BOOST_TEST(request.inline_data.empty());
    BOOST_TEST(request.length == 0u);
    BOOST_TEST(!ends.device.lied());
    BOOST_TEST(!ends.take().malformed);
  }
}

// Nobody knows where the next WQE begins.
BOOST_AUTO_TEST_CASE(a_size_that_is_wrong_ends_the_queue) {
  for (const std::uint32_t units : {0u, 9u, 63u}) {
    SendEnds ends;
    ends.program.post(kSend, kUpdate, 0, data(1, 2, 3), {.units = units});
    ends.program.post(kSend);
    const SendRequest request = ends.take();
    BOOST_TEST(request.malformed);
    BOOST_TEST(request.signaled);
    BOOST_TEST(request.sges.empty());
    BOOST_TEST(ends.device.lied());
    BOOST_TEST(!ends.device.pending());
    SendRequest none;
    BOOST_TEST(!ends.device.next(none));
    ends.device.retire(request.index);
    ends.device.reset();
    BOOST_TEST(!ends.device.lied());
  }
}

BOOST_AUTO_TEST_CASE(an_impossible_producer_index_ends_the_queue) {
  const struct {
    std::uint32_t taken, retired, producer;
    bool lied;
  } cases[] = {{0, 0, 16, false}, {0, 0, 17, true}, {0, 0, 0xFFFF, true},  {4, 2, 18, false},
               {4, 2, 19, true},  {4, 2, 3, true},  {4, 2, 4, false},      {4, 4, 20, false},
               {4, 4, 21, true},  {4, 4, 3, true},  {0, 0, 0x10001, false}};
  for (const auto& c : cases) {
    BOOST_TEST_INFO_SCOPE(c.taken << ", " << c.retired << ", " << c.producer);
    SendEnds ends;
    for (std::uint32_t i = 0; i < c.taken; ++i) ends.program.post(kSend);
    for (std::uint32_t i = 0; i < c.taken; ++i) {
      const SendRequest request = ends.take();
      if (i < c.retired) ends.device.retire(request.index);
    }
    ends.program.doorbells.send.store(c.producer, std::memory_order_relaxed);
    ends.device.doorbell();
    BOOST_TEST(ends.device.lied() == c.lied);
    if (c.lied) BOOST_TEST(!ends.device.pending());
    ends.device.queued();
  }
}

BOOST_AUTO_TEST_CASE(people_see_nothing_of_a_queue_that_makes_no_sense) {
  SendEnds ends(2);
  ends.program.write(kSend, 0, 0, {}, {.units = 63});
  ends.program.counter = 20;
  ends.program.publish();
  BOOST_TEST(ends.device.queued().wqes.empty());
  ends.program.counter = 2;
  ends.program.publish();
  BOOST_TEST(ends.device.queued().wqes.empty());
}

// After a failed memory access the transport retires requests again.
BOOST_AUTO_TEST_CASE(retiring_again_changes_nothing) {
  SendEnds ends;
  for (int i = 0; i < 8; ++i) ends.program.post(kSend);
  for (int i = 0; i < 8; ++i) ends.take();
  ends.device.retire(5);
  ends.device.retire(3);
  ends.device.retire(0xFFFFFFFF);
  ends.device.retire(8);  // was never taken
  ends.program.counter = 6 + 16;
  ends.program.publish();
  ends.device.doorbell();
  BOOST_TEST(!ends.device.lied());
  ends.program.counter = 6 + 17;
  ends.program.publish();
  ends.device.doorbell();
  BOOST_TEST(ends.device.lied());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
