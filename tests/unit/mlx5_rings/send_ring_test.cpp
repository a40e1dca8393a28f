// Send WQEs as libmlx5 writes them become the requests that they say.
#define BOOST_TEST_DYN_LINK
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "tests/unit/mlx5_rings/send_ends.hpp"

namespace urnic::engine::mlx5::test {
namespace {

using transport::QpService;
using transport::SendRequest;
using transport::WorkOpcode;

bool holds(std::span<const std::byte> bytes, const std::vector<std::byte>& expected) {
  return std::equal(bytes.begin(), bytes.end(), expected.begin(), expected.end());
}

struct OpcodeCase {
  std::uint8_t posted;
  WorkOpcode opcode;
  bool has_address;
};
constexpr OpcodeCase kWithData[] = {
    {kSend, WorkOpcode::send, false},
    {kSendImmediate, WorkOpcode::send_with_immediate, false},
    {kSendInvalidate, WorkOpcode::send_with_invalidate, false},
    {kWrite, WorkOpcode::rdma_write, true},
    {kWriteImmediate, WorkOpcode::rdma_write_with_immediate, true},
    {kRead, WorkOpcode::rdma_read, true},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(send_ring)

// At every place of the ring, so that each segment once goes on at the ring's begin.
BOOST_AUTO_TEST_CASE(every_opcode_with_data_segments_at_every_place) {
  for (const OpcodeCase& c : kWithData) {
    for (std::uint32_t place = 0; place < 16; ++place) {
      BOOST_TEST_INFO_SCOPE("opcode " << int{c.posted} << " at block " << place);
      SendEnds ends;
      ends.go_to(place);
      Bytes segments = c.has_address ? remote(0x1122334455667788, 0x99AABBCC) : Bytes();
      segments += data(100, 0x1F00, 0x7000) + data(0, 0x1F00, 0x7777) + data(28, 0x2F01, 0xFFFFFFFF12345678) +
                  data(1, 3, 4) + data(2, 5, 6);
      ends.program.post(c.posted, kUpdate, 0xDDCCBBAA, segments);
      const SendRequest request = ends.take();
      BOOST_TEST(!request.malformed);
      BOOST_TEST((request.opcode == c.opcode));
      BOOST_TEST(!request.is_inline);
      BOOST_TEST(request.inline_data.empty());
      BOOST_TEST(request.length == 131u);
      BOOST_REQUIRE(request.sges.size() == 5u);
      BOOST_TEST(request.sges[0].address == 0x7000u);
      BOOST_TEST(request.sges[1].length == 0u);
      BOOST_TEST(request.sges[2].address == 0xFFFFFFFF12345678u);
      BOOST_TEST(request.sges[2].length == 28u);
      BOOST_TEST(request.sges[2].lkey.value == 0x2F01u);
      BOOST_TEST(request.sges[4].lkey.value == 5u);
      BOOST_TEST((request.immediate == wire::Immediate{{0xDD, 0xCC, 0xBB, 0xAA}}));
      BOOST_TEST(request.invalidate.value == 0xDDCCBBAAu);
      if (c.has_address) {
        BOOST_TEST(request.remote_address == 0x1122334455667788u);
        BOOST_TEST(request.rkey.value == 0x99AABBCCu);
      }
      ends.device.doorbell();
      SendRequest none;
      BOOST_TEST(!ends.device.next(none));
      BOOST_TEST(!ends.device.lied());
    }
  }
}

BOOST_AUTO_TEST_CASE(inline_data_of_every_length_at_every_place) {
  for (std::uint32_t place = 0; place < 16; ++place) {
    for (std::size_t length = 1; length < 130; length += place == 15 ? 1 : 17) {
      BOOST_TEST_INFO_SCOPE("block " << place << ", " << length << " bytes");
      SendEnds ends;
      ends.go_to(place);
      const auto bytes = pattern(length);
      ends.program.post(kWrite, kUpdate, 0, remote(1, 2) + inlined(bytes));
      const SendRequest request = ends.take();
      BOOST_TEST(!request.malformed);
      BOOST_TEST(request.is_inline);
      BOOST_TEST(request.sges.empty());
      BOOST_TEST(request.length == length);
      BOOST_TEST(holds(request.inline_data, bytes));
    }
  }
}

// UCX has the header of a message inline, and the rest in memory.
BOOST_AUTO_TEST_CASE(inline_data_in_pieces_and_segments_behind_it) {
  for (std::uint32_t place : {0u, 14u, 15u}) {
    SendEnds ends;
    ends.go_to(place);
    const auto one = pattern(13, 1);
    const auto two = pattern(30, 2);
    ends.program.post(kSend, kUpdate, 0, inlined(one) + inlined(two) + data(500, 7, 0x1000));
    const SendRequest request = ends.take();
    BOOST_TEST(!request.malformed);
    BOOST_TEST(request.is_inline);
    std::vector<std::byte> both = one;
    both.insert(both.end(), two.begin(), two.end());
    BOOST_TEST(holds(request.inline_data, both));
    BOOST_REQUIRE(request.sges.size() == 1u);
    BOOST_TEST(request.sges[0].length == 500u);
    BOOST_TEST(request.length == 543u);
  }
}

BOOST_AUTO_TEST_CASE(no_data_at_all) {
  SendEnds ends;
  ends.program.post(kSend);
  ends.program.post(kWrite, kUpdate, 0, remote(5, 6));
  const SendRequest send = ends.take();
  BOOST_TEST(!send.malformed);
  BOOST_TEST(send.length == 0u);
  const SendRequest write = ends.take();
  BOOST_TEST(!write.malformed);
  BOOST_TEST(write.remote_address == 5u);
  BOOST_TEST(write.length == 0u);
}

BOOST_AUTO_TEST_CASE(atomics_with_their_operands) {
  for (std::uint32_t place : {0u, 15u}) {
    SendEnds ends;
    ends.go_to(place);
    ends.program.post(kSwap, kUpdate, 0, remote(0x1000, 9) + operands(11, 22) + data(8, 3, 0x2000));
    ends.program.post(kAdd, kUpdate, 0, remote(0x1008, 9) + operands(33, 0) + data(8, 3, 0x2008));
    const SendRequest swap = ends.take();
    BOOST_TEST((swap.opcode == WorkOpcode::atomic_compare_swap));
    BOOST_TEST(swap.swap == 11u);
    BOOST_TEST(swap.compare_add == 22u);
    BOOST_TEST(swap.length == 8u);
    BOOST_TEST(swap.sges[0].address == 0x2000u);
    const SendRequest add = ends.take();
    BOOST_TEST((add.opcode == WorkOpcode::atomic_fetch_add));
    BOOST_TEST(add.compare_add == 33u);
    BOOST_TEST(add.remote_address == 0x1008u);
    BOOST_TEST(!add.malformed);
  }
}

BOOST_AUTO_TEST_CASE(flags) {
  const struct {
    std::uint8_t flags;
    bool signaled, solicited, fence;
  } cases[] = {{0, false, false, false},       {0x08, true, false, false},
               {0x0C, true, false, false},     {0x04, false, false, false},
               {kSolicit, false, true, false}, {kSmallFence, false, false, false},
               {0x40, false, false, true},     {0x60, false, false, true},
               {kFence, false, false, true},   {kFence | kUpdate | kSolicit, true, true, true}};
  for (const bool signal_all : {false, true}) {
    for (const auto& c : cases) {
      BOOST_TEST_INFO_SCOPE("flags " << int{c.flags});
      SendEnds ends(16, QpService::rc, signal_all);
      ends.program.post(kSend, c.flags);
      const SendRequest request = ends.take();
      BOOST_TEST(request.signaled == (c.signaled || signal_all));
      BOOST_TEST(request.solicited == c.solicited);
      BOOST_TEST(request.fence == c.fence);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_nop_completes_and_does_nothing) {
  SendEnds ends;
  ends.program.post(kNop, kUpdate | kFence);
  const SendRequest request = ends.take();
  BOOST_TEST((request.opcode == WorkOpcode::bind_memory_window));
  BOOST_TEST(request.is_idle);
  BOOST_TEST(!request.malformed);
  BOOST_TEST(request.signaled);
}

BOOST_AUTO_TEST_CASE(extended_connections_name_the_peers_srq) {
  SendEnds ends(16, QpService::xrc_initiator);
  ends.program.post(kSend, kUpdate, 0, xrc(0xABCDEF) + data(4, 1, 2));
  ends.program.post(kWrite, kUpdate, 0, xrc(0x111111) + remote(8, 9) + data(4, 1, 2));
  const SendRequest send = ends.take();
  BOOST_TEST(send.remote_srq == 0xABCDEFu);
  BOOST_TEST(send.length == 4u);
  const SendRequest write = ends.take();
  BOOST_TEST(write.remote_srq == 0x111111u);
  BOOST_TEST(write.remote_address == 8u);
  BOOST_TEST(write.sges.size() == 1u);
}

BOOST_AUTO_TEST_CASE(datagrams_have_an_address_handle) {
  for (std::uint32_t place : {0u, 15u}) {
    SendEnds ends(16, QpService::ud);
    ends.go_to(place);
    ends.program.post(kSendImmediate, kUpdate, 7, datagram(0x11111111, 0x222222, 0x01020304) + data(9, 1, 2));
    const SendRequest request = ends.take();
    BOOST_TEST(!request.malformed);
    BOOST_TEST(request.address_handle == 0x01020304u);
    BOOST_TEST(request.remote_qpn.value == 0x222222u);
    BOOST_TEST(request.remote_qkey == 0x11111111u);
    BOOST_TEST(request.length == 9u);
  }
}

BOOST_AUTO_TEST_CASE(raw_packets_begin_in_the_ethernet_segment) {
  for (std::uint32_t place : {0u, 15u}) {
    for (const std::size_t begin : {0u, 1u, 2u, 14u, 18u, 19u, 60u}) {
      BOOST_TEST_INFO_SCOPE("block " << place << ", begin " << begin);
      SendEnds ends(16, QpService::raw_packet);
      ends.go_to(place);
      const auto front = pattern(begin, 3);
      ends.program.post(kSend, kUpdate, 0, ethernet(front) + data(100, 1, 2));
      const auto rest = pattern(31, 4);
      ends.program.post(kSend, kUpdate, 0, ethernet(front) + inlined(rest));
      const SendRequest request = ends.take();
      BOOST_TEST(!request.malformed);
      BOOST_TEST(holds(request.inline_data, front));
      BOOST_TEST(request.is_inline == (begin != 0));
      BOOST_TEST(request.length == begin + 100);
      BOOST_TEST(request.sges.size() == 1u);
      const SendRequest whole = ends.take();
      std::vector<std::byte> frame = front;
      frame.insert(frame.end(), rest.begin(), rest.end());
      BOOST_TEST(!whole.malformed);
      BOOST_TEST(holds(whole.inline_data, frame));
      BOOST_TEST(whole.sges.empty());
    }
  }
}

// What a WQE says holds for its frame alone. Flags of headers inside of a tunnel (0x30) say nothing here.
BOOST_AUTO_TEST_CASE(raw_packets_say_which_checksums_the_device_makes) {
  SendEnds ends(16, QpService::raw_packet);
  for (const unsigned flags : {0x00u, 0x40u, 0x80u, 0xC0u, 0x30u, 0x00u})
    ends.program.post(kSend, kUpdate, 0,
                      ethernet(pattern(18), static_cast<std::uint8_t>(flags)) + data(9, 1, 2));
  SendRequest request;
  for (const unsigned flags : {0x00u, 0x40u, 0x80u, 0xC0u, 0x30u, 0x00u}) {
    request = ends.take();
    BOOST_TEST(!request.malformed);
    BOOST_TEST(request.checksums.network == ((flags & kNetworkChecksum) != 0));
    BOOST_TEST(request.checksums.transport == ((flags & kTransportChecksum) != 0));
  }
}

BOOST_AUTO_TEST_CASE(windows_are_bound_and_unbound) {
  for (std::uint32_t place : {0u, 14u, 15u}) {
    for (const bool type_2 : {false, true}) {
      for (const bool zero_based : {false, true}) {
        SendEnds ends;
        ends.go_to(place);
        ends.program.post(kUmr, kUpdate, 0x00045601,
                          key_change({.type_2 = type_2,
                                      .key_byte = 0x77,
                                      .address = 0x5000,
                                      .length = 0x80000000,
                                      .lkey = 0x9900,
                                      .access = 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6,
                                      .zero_based = zero_based}));
        const SendRequest bind = ends.take();
        BOOST_TEST(!bind.malformed);
        BOOST_TEST((bind.opcode == WorkOpcode::bind_memory_window));
        BOOST_TEST(!bind.is_idle);
        BOOST_TEST(bind.binding.current.value == 0x00045601u);
        BOOST_TEST(bind.binding.next.value == 0x00045677u);
        BOOST_TEST(bind.binding.region.value == 0x9900u);
        BOOST_TEST(bind.binding.address == 0x5000u);
        BOOST_TEST(bind.binding.length == 0x80000000u);
        BOOST_TEST(bind.binding.access == (zero_based ? 32u + 14u : 14u));
      }
    }
  }
  SendEnds ends;
  ends.program.post(kUmr, kUpdate, 0x00045601, key_change({.type_2 = false, .key_byte = 2}));
  const SendRequest unbind = ends.take();
  BOOST_TEST((unbind.opcode == WorkOpcode::bind_memory_window));
  BOOST_TEST(unbind.binding.length == 0u);
  BOOST_TEST(unbind.binding.next.value == 0x00045602u);
  ends.program.post(kUmr, kUpdate, 0x00045602, key_change({}));
  ends.program.post(kInvalidate, kUpdate, 0x00045603);
  for (const std::uint32_t rkey : {0x00045602u, 0x00045603u}) {
    const SendRequest invalidate = ends.take();
    BOOST_TEST(!invalidate.malformed);
    BOOST_TEST((invalidate.opcode == WorkOpcode::local_invalidate));
    BOOST_TEST(invalidate.invalidate.value == rkey);
  }
}

// The right to write locally is a region's, not a window's.
BOOST_AUTO_TEST_CASE(each_right_of_a_window) {
  const struct {
    std::uint8_t posted;
    std::uint32_t access;
  } cases[] = {{1 << 3, 0}, {1 << 5, 2}, {1 << 4, 4}, {1 << 6, 8}, {1 << 2, 0}};
  for (const auto& c : cases) {
    SendEnds ends;
    ends.program.post(kUmr, kUpdate, 0x100, key_change({.address = 1, .length = 1, .access = c.posted}));
    BOOST_TEST(ends.take().binding.access == c.access);
  }
}

// CQEs name the first block of a WQE; the transport counts WQEs.
BOOST_AUTO_TEST_CASE(counters_are_first_blocks_over_several_laps_of_sixteen_bits) {
  SendEnds ends(64);
  std::uint32_t index = 0;
  for (std::uint32_t posted = 0; posted < 3 * 65536;) {
    std::vector<std::uint16_t> firsts;
    for (std::uint32_t segments : {0u, 3u, 4u, 11u, 40u}) {
      firsts.push_back(ends.program.counter);
      Bytes list;
      for (std::uint32_t i = 0; i < segments; ++i) list += data(1, 2, 3);
      ends.program.post(segments == 3 ? kSendImmediate : kSend, 0, 0, list);
      posted += (segments + 4) / 4;
    }
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      const SendRequest request = ends.take();
      BOOST_REQUIRE(!request.malformed);
      BOOST_REQUIRE(request.index == index + i);
    }
    // The counters last until their CQEs are read, however long before the requests were retired.
    for (std::size_t i = 0; i < firsts.size(); ++i) ends.device.retire(index + static_cast<std::uint32_t>(i));
    for (std::size_t i = 0; i < firsts.size(); ++i) {
      BOOST_REQUIRE(ends.device.counter(index + static_cast<std::uint32_t>(i)) == firsts[i]);
    }
    BOOST_REQUIRE((ends.device.opcode(index + 1) == abi::mlx5::SendOpcode::send_immediate));
    index += static_cast<std::uint32_t>(firsts.size());
  }
  BOOST_TEST(!ends.device.lied());
}

// The device reads a WQE once: what the program writes there afterwards changes nothing.
BOOST_AUTO_TEST_CASE(a_request_is_a_copy) {
  SendEnds ends;
  const auto bytes = pattern(40);
  ends.program.post(kSend, kUpdate, 0, inlined(bytes) + data(100, 1, 2));
  const SendRequest request = ends.take();
  std::fill(ends.program.ring.begin(), ends.program.ring.end(), std::byte{0xEE});
  BOOST_TEST(holds(request.inline_data, bytes));
  BOOST_TEST(request.sges[0].length == 100u);
}

BOOST_AUTO_TEST_CASE(a_reset_queue_begins_anew_and_clears_the_record) {
  SendEnds ends;
  ends.program.post(kSend);
  ends.program.post(kSend);
  ends.take();
  ends.device.reset();
  BOOST_TEST(ends.program.doorbells.send.load(std::memory_order_relaxed) == 0u);
  ends.device.doorbell();
  BOOST_TEST(!ends.device.pending());
  ends.program.counter = 0;
  ends.program.post(kSend);
  BOOST_TEST(ends.take().index == 0u);
}

BOOST_AUTO_TEST_CASE(a_queue_without_blocks_has_nothing) {
  SendRing none(SendRingConfig{});
  none.doorbell();
  none.prefetch_next();
  SendRequest request;
  BOOST_TEST(!none.pending());
  BOOST_TEST(!none.next(request));
  BOOST_TEST(none.queued().wqes.empty());
  none.reset();
}

BOOST_AUTO_TEST_CASE(people_see_what_is_posted) {
  SendEnds ends;
  ends.program.post(kSend, 0, 0, data(3, 1, 2));
  ends.program.post(kWrite, kUpdate, 0, remote(7, 8) + data(4, 1, 2) + data(5, 1, 2));
  ends.program.post(kSend, kUpdate, 0, inlined(pattern(9)));
  ends.device.retire(ends.take().index);
  ends.take();
  const QueuedSends queued = ends.device.queued();
  BOOST_TEST(queued.indices.slots == 16u);
  BOOST_TEST(queued.indices.retired == 1u);
  BOOST_TEST(queued.indices.taken == 2u);
  BOOST_TEST(queued.indices.producer == 3u);
  BOOST_REQUIRE(queued.wqes.size() == 2u);
  BOOST_TEST(queued.wqes[0].request.index == 1u);
  BOOST_TEST((queued.wqes[0].request.opcode == WorkOpcode::rdma_write));
  BOOST_TEST(queued.wqes[0].segments == 2u);
  BOOST_TEST(queued.wqes[0].request.length == 9u);
  BOOST_TEST(queued.wqes[1].request.is_inline);
  BOOST_TEST(queued.wqes[1].request.length == 9u);
  BOOST_TEST(queued.wqes[1].segments == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
