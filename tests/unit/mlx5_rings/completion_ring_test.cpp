// CQEs as libmlx5 reads them, moving to other memory.
#define BOOST_TEST_DYN_LINK
#include <boost/test/unit_test.hpp>

#include "tests/unit/mlx5_rings/completion_ends.hpp"
#include "tests/unit/mlx5_rings/work_end.hpp"

namespace urnic::engine::mlx5::test {
namespace {

using abi::ArmKind;
using transport::Completion;
using transport::CompletionOpcode;
using transport::WorkStatus;

class SomeClock final : public CompletionClock {
 public:
  std::uint64_t now() override { return 0x1122334455667788; }
  std::uint64_t of_round() override { return 0x1122334455660000; }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(completion_ring)

BOOST_AUTO_TEST_CASE(every_kind_of_send_says_what_was_posted_and_where) {
  for (const std::uint8_t opcode : {kNop, kSendInvalidate, kWrite, kWriteImmediate, kSend, kSendImmediate,
                                    kRead, kSwap, kAdd, kInvalidate, kUmr}) {
    CompletionEnds ends;
    SendEnd posted(64);
    SendRing sends({.ring = posted.ring.data(), .blocks = 64, .producer = &posted.doorbells.send});
    ends.queues.add(kQpn, {kUserIndex, &sends});
    for (int i = 0; i < 3; ++i) posted.post(kSend, 0, 0, inlined(pattern(100)));
    posted.post(opcode);
    sends.doorbell();
    transport::SendRequest request;
    while (sends.next(request)) sends.retire(request.index);
    Completion completion;
    completion.qpn = kQpn;
    completion.wqe_index = 3;
    completion.byte_length = 77;
    BOOST_TEST(ends.device.write(completion, 0));
    const PolledCqe cqe = ends.poll();
    BOOST_TEST(cqe.opcode == 0u);
    BOOST_TEST(cqe.send_opcode == opcode);
    BOOST_TEST(cqe.counter == 6u);
    BOOST_TEST(cqe.user_index == kUserIndex);
    BOOST_TEST(cqe.qpn == kQpn.value);
    BOOST_TEST(cqe.byte_count == 77u);
    BOOST_TEST(!cqe.solicited);
    BOOST_TEST(!ends.program.poll());
  }
}

BOOST_AUTO_TEST_CASE(every_kind_of_receive) {
  const struct {
    CompletionOpcode opcode;
    bool immediate, invalidate;
    unsigned expected;
  } cases[] = {{CompletionOpcode::receive, false, false, 2},
               {CompletionOpcode::receive, true, false, 3},
               {CompletionOpcode::receive, false, true, 4},
               {CompletionOpcode::receive_rdma_with_immediate, true, false, 1}};
  for (const auto& c : cases) {
    CompletionEnds ends;
    Completion completion = CompletionEnds::received(0x12345);
    completion.opcode = c.opcode;
    completion.with_immediate = c.immediate;
    completion.with_invalidate = c.invalidate;
    completion.immediate = {{1, 2, 3, 4}};
    completion.invalidated = wire::Rkey{0xAABBCCDD};
    completion.byte_length = 0x7FFFFFFF;
    completion.source = wire::Qpn{0x777777};
    completion.solicited = true;
    ends.device.write(completion, 0);
    const PolledCqe cqe = ends.poll();
    BOOST_TEST(cqe.opcode == c.expected);
    BOOST_TEST(cqe.immediate == (c.immediate ? 0x01020304u : c.invalidate ? 0xAABBCCDDu : 0u));
    BOOST_TEST(cqe.byte_count == 0x7FFFFFFFu);
    BOOST_TEST(cqe.counter == 0x2345u);
    BOOST_TEST(cqe.source == 0x777777u);
    BOOST_TEST(cqe.grh == 0u);
    BOOST_TEST(cqe.service_level == 0u);
    BOOST_TEST(cqe.checksums == 0u);
    BOOST_TEST(cqe.timestamp == 0u);
    BOOST_TEST(cqe.solicited);
  }
}

BOOST_AUTO_TEST_CASE(datagrams_say_which_ip_carried_them) {
  for (const bool over_ipv6 : {false, true}) {
    CompletionEnds ends;
    Completion completion = CompletionEnds::received(0);
    completion.with_grh = true;
    completion.over_ipv6 = over_ipv6;
    ends.device.write(completion, 0);
    const PolledCqe cqe = ends.poll();
    BOOST_TEST(cqe.grh == 1u);
    BOOST_TEST(cqe.service_level == (over_ipv6 ? 9u : 10u));
    BOOST_TEST(cqe.network_header == (over_ipv6 ? 1u : 2u));
  }
}

// The types are the six bits by which DPDK's driver finds the packet's type (mlx5_ptype_table).
BOOST_AUTO_TEST_CASE(raw_packets_say_what_they_are) {
  using namespace transport;
  const struct {
    int layers;
    unsigned types;
  } rows[] = {{0, 0},
              {layer_vlan, 0},
              {layer_ipv6, 0x01},
              {layer_ipv4, 0x02},
              {layer_ipv6 | layer_tcp, 0x05},
              {layer_ipv4 | layer_tcp, 0x06},
              {layer_ipv6 | layer_udp, 0x09},
              {layer_vlan | layer_ipv4 | layer_udp, 0x0A},
              {layer_ipv6 | layer_fragment, 0x21},
              {layer_ipv4 | layer_udp | layer_fragment, 0x22}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT("layers " << row.layers) {
      CompletionEnds ends;
      Completion completion = CompletionEnds::received(0);
      completion.facts = {static_cast<std::uint8_t>(row.layers), 0x12345678};
      ends.device.write(completion, 0);
      const PolledCqe cqe = ends.poll();
      BOOST_TEST(cqe.header_types == row.types << 2);
      BOOST_TEST(cqe.flow_hash == (row.layers == 0 ? 0u : 0x12345678u));
    }
  }
}

BOOST_AUTO_TEST_CASE(raw_packets_say_which_checksums_are_right) {
  for (const bool network : {false, true}) {
    for (const bool above : {false, true}) {
      CompletionEnds ends;
      Completion completion = CompletionEnds::received(0);
      completion.facts = {transport::layer_ipv4, 0, {network, above}};
      ends.device.write(completion, 0);
      BOOST_TEST(ends.poll().checksums == (network ? 2u : 0u) + (above ? 4u : 0u));
    }
  }
}

BOOST_AUTO_TEST_CASE(every_error) {
  const struct {
    WorkStatus status;
    unsigned syndrome;
  } cases[] = {{WorkStatus::local_length_error, 0x01},       {WorkStatus::local_qp_operation_error, 0x02},
               {WorkStatus::local_protection_error, 0x04},   {WorkStatus::flushed, 0x05},
               {WorkStatus::memory_window_bind_error, 0x06}, {WorkStatus::bad_response_error, 0x10},
               {WorkStatus::local_access_error, 0x11},       {WorkStatus::remote_invalid_request_error, 0x12},
               {WorkStatus::remote_access_error, 0x13},      {WorkStatus::remote_operation_error, 0x14},
               {WorkStatus::retry_exceeded, 0x15},           {WorkStatus::rnr_retry_exceeded, 0x16}};
  for (const auto& c : cases) {
    for (const bool receive : {false, true}) {
      CompletionEnds ends;
      Completion completion = CompletionEnds::received(5);
      completion.receive = receive;
      completion.status = c.status;
      completion.vendor_error = 0x99;
      ends.device.write(completion, 0);
      const PolledCqe cqe = ends.poll();
      BOOST_TEST(cqe.opcode == (receive ? 14u : 13u));
      BOOST_TEST(cqe.syndrome == c.syndrome);
      BOOST_TEST(cqe.vendor_syndrome == 0x99u);
      BOOST_TEST(cqe.counter == 5u);
      BOOST_TEST(cqe.user_index == kUserIndex);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cqe_has_the_rounds_time_or_the_exact_one) {
  SomeClock clock;
  CompletionEnds ends(8, 64, &clock);
  ends.write(0);
  BOOST_TEST(ends.poll().timestamp == 0x1122334455660000u);
  CompletionEnds exact(8, 64, &clock, true);
  exact.write(0);
  BOOST_TEST(exact.poll().timestamp == 0x1122334455667788u);
}

// The QP of a message to an XRC SRQ may be another program's.
BOOST_AUTO_TEST_CASE(shared_receives_name_the_qp_but_of_xrc_the_srq) {
  CompletionEnds ends;
  ends.queues.add_xrc(70, 0x555);
  ends.device.write(CompletionEnds::received(3), 71);
  BOOST_TEST(ends.poll().user_index == kUserIndex);
  Completion foreign = CompletionEnds::received(4);
  foreign.qpn = wire::Qpn{9};
  ends.device.write(foreign, 70);
  const PolledCqe cqe = ends.poll();
  BOOST_TEST(cqe.user_index == 0x555u);
  BOOST_TEST(cqe.counter == 4u);
  ends.queues.remove_xrc(70);
  BOOST_TEST(ends.device.write(foreign, 70));
  BOOST_TEST(!ends.program.poll());
}

BOOST_AUTO_TEST_CASE(a_completion_of_a_queue_that_is_gone_is_dropped) {
  CompletionEnds ends;
  ends.queues.remove(kQpn);
  BOOST_TEST(ends.write(0));
  BOOST_TEST(!ends.program.poll());
}

BOOST_AUTO_TEST_CASE(over_many_laps_in_both_sizes_of_entry) {
  for (const std::uint32_t bytes : {64u, 128u}) {
    CompletionEnds ends(8, bytes);
    std::uint32_t polled = 0;
    for (std::uint32_t i = 0; i < 1000; ++i) {
      BOOST_REQUIRE(ends.write(i));
      if (i % 8 != 7 && i % 5 != 0) continue;
      while (const auto cqe = ends.program.poll()) BOOST_REQUIRE(cqe->counter == polled++);
      BOOST_REQUIRE(polled == i + 1);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_consumer_index_has_24_bits) {
  CompletionEnds ends(4);
  for (std::uint32_t i = 0; i < (1u << 24) + 100; ++i) {
    if (!ends.write(i)) BOOST_FAIL("full at " << i);
    const auto cqe = ends.program.poll();
    if (!cqe || cqe->counter != static_cast<std::uint16_t>(i)) BOOST_FAIL("wrong at " << i);
  }
}

BOOST_AUTO_TEST_CASE(a_full_queue_takes_no_more_until_one_is_read) {
  CompletionEnds ends;
  for (std::uint32_t i = 0; i < 8; ++i) BOOST_TEST(ends.write(i));
  BOOST_TEST(!ends.write(8));
  BOOST_TEST(ends.device.indices().producer == 8u);
  BOOST_TEST(ends.device.indices().consumer == 0u);
  ends.poll();
  BOOST_TEST(ends.device.indices().consumer == 1u);
  BOOST_TEST(ends.write(8));
  BOOST_TEST(!ends.write(9));
  for (std::uint32_t i = 1; i < 9; ++i) BOOST_TEST(ends.poll().counter == i);
}

BOOST_AUTO_TEST_CASE(an_impossible_consumer_index_is_not_believed) {
  for (const std::uint32_t consumer : {9u, 0x800000u, 0xFFFFFFu, 0xFFFFFFFFu}) {
    CompletionEnds ends;
    for (std::uint32_t i = 0; i < 8; ++i) BOOST_TEST(ends.write(i));
    ends.program.doorbells.consumer.store(consumer, std::memory_order_relaxed);
    BOOST_TEST(!ends.write(8));
  }
}

BOOST_AUTO_TEST_CASE(sizes_are_clamped) {
  CompletionEnds ends(8);
  CompletionRing odd({.ring = ends.program.buffer->begin(),
                      .slots = 7,
                      .doorbells = &ends.program.doorbells,
                      .queues = &ends.queues});
  BOOST_TEST(odd.indices().slots == 4u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(moving)

// From and to every lap of both memories, with any number of unread CQEs.
BOOST_AUTO_TEST_CASE(unread_and_later_completions_come_in_order) {
  for (const std::uint32_t to : {4u, 8u, 16u, 64u}) {
    for (std::uint32_t before = 0; before < 40; ++before) {
      for (std::uint32_t unread = 0; unread <= std::min(7u, to); ++unread) {
        BOOST_TEST_INFO_SCOPE(before << " before, " << unread << " unread, to " << to);
        CompletionEnds ends;
        std::uint32_t written = 0;
        std::uint32_t read = 0;
        for (; written < before; ++written) {
          BOOST_REQUIRE(ends.write(written));
          BOOST_REQUIRE(ends.poll().counter == read++);
        }
        for (std::uint32_t i = 0; i < unread; ++i) BOOST_REQUIRE(ends.write(written++));
        auto next = std::make_unique<CqBuffer>(to, 64);
        ends.device.begin_move(next->begin(), to);
        BOOST_REQUIRE((ends.device.move(1) == CompletionRing::Moved::all));
        // The program has not copied yet, and there is room in the new memory.
        for (std::uint32_t i = unread; i < to; ++i) BOOST_REQUIRE(ends.write(written++));
        BOOST_REQUIRE(!ends.write(written));
        BOOST_REQUIRE(ends.program.go_on_in(std::move(next)));
        while (const auto cqe = ends.program.poll()) BOOST_REQUIRE(cqe->counter == read++);
        BOOST_REQUIRE(read == written);
        for (std::uint32_t i = 0; i < 3 * to; ++i) {
          BOOST_REQUIRE(ends.write(written++));
          BOOST_REQUIRE(ends.poll().counter == read++);
        }
      }
    }
  }
}

// libmlx5 stores its consumer index when it reads a CQE, not when the queue moves.
BOOST_AUTO_TEST_CASE(moves_without_a_read_between_them) {
  CompletionEnds ends;
  for (std::uint32_t i = 0; i < 4; ++i) ends.write(i);
  for (const std::uint32_t to : {16u, 8u, 16u, 4u}) {
    auto next = std::make_unique<CqBuffer>(to, 64);
    ends.device.begin_move(next->begin(), to);
    BOOST_REQUIRE((ends.device.move(1) == CompletionRing::Moved::all));
    BOOST_REQUIRE(ends.program.go_on_in(std::move(next)));
  }
  BOOST_TEST(!ends.write(4));
  for (std::uint32_t i = 0; i < 4; ++i) BOOST_TEST(ends.poll().counter == i);
  BOOST_TEST(ends.write(4));
  BOOST_TEST(ends.poll().counter == 4u);
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_stays) {
  CompletionEnds ends;
  for (std::uint32_t i = 0; i < 5; ++i) ends.write(i);
  CqBuffer small(4, 64);
  ends.device.begin_move(small.begin(), 4);
  BOOST_TEST((ends.device.move(100) == CompletionRing::Moved::does_not_fit));
  for (std::uint32_t i = 5; i < 8; ++i) BOOST_TEST(ends.write(i));
  // Nor is there room to tell the program.
  CqBuffer large(64, 64);
  ends.device.begin_move(large.begin(), 64);
  BOOST_TEST((ends.device.move(100) == CompletionRing::Moved::does_not_fit));
  for (std::uint32_t i = 0; i < 8; ++i) BOOST_TEST(ends.poll().counter == i);
  BOOST_TEST(!ends.program.poll());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::mlx5::test
