// Which packets a request becomes (IBTA 9.4, 9.7.3).
#include "device_model/transport/segmentation.hpp"

#include "tests/unit/requester/requester_bench.hpp"

namespace urnic::transport::requester_test {
namespace {

// The packets of a message of `count` packets, by the four opcodes of its kind.
Operation place(std::uint32_t at, std::uint32_t count, Operation first, Operation middle, Operation last,
                Operation only) {
  if (count == 1) return only;
  if (at == 0) return first;
  return at + 1 == count ? last : middle;
}

struct Kind {
  WorkOpcode opcode;
  Operation first, middle, last, only;
};

const Kind kKinds[] = {
    {WorkOpcode::send, send_first, send_middle, send_last, send_only},
    {WorkOpcode::send_with_immediate, send_first, send_middle, send_last_immediate, send_only_immediate},
    {WorkOpcode::send_with_invalidate, send_first, send_middle, send_last_invalidate, send_only_invalidate},
    {WorkOpcode::rdma_write, write_first, write_middle, write_last, write_only},
    {WorkOpcode::rdma_write_with_immediate, write_first, write_middle, write_last_immediate,
     write_only_immediate},
};

void check_message(const Kind& kind, std::uint32_t mtu, std::uint32_t length) {
  RequesterBench b({.path_mtu = mtu});
  b.post(kind.opcode, length, 5);
  const std::uint32_t count = length == 0 ? 1 : (length + mtu - 1) / mtu;
  std::vector<std::byte> message;
  for (std::uint32_t at = 0; at < count; ++at) {
    const SentPacket packet = b.expect(place(at, count, kind.first, kind.middle, kind.last, kind.only), at);
    const bool last = at + 1 == count;
    BOOST_TEST(packet.payload.size() == (last ? length - at * mtu : mtu));
    BOOST_TEST((packet.payload.size() + packet.headers.bth.pad) % 4 == 0u);
    BOOST_TEST(packet.headers.bth.pad < 4u);
    const std::uint16_t has = wire::traits(packet.headers.bth.opcode).headers;
    if ((has & wire::has_reth) != 0) {
      BOOST_TEST(packet.headers.reth.virtual_address == kRemote);
      BOOST_TEST(packet.headers.reth.rkey.value == kRkey);
      BOOST_TEST(packet.headers.reth.dma_length == length);
    }
    if ((has & wire::has_immediate) != 0) BOOST_TEST(packet.headers.immediate.bytes[0] == 0xDE);
    if ((has & wire::has_ieth) != 0) BOOST_TEST(packet.headers.invalidate.value == 0x1234u);
    if (last) BOOST_TEST(packet.headers.bth.ack_request);
    message.insert(message.end(), packet.payload.begin(), packet.payload.end());
  }
  b.expect_silence();
  BOOST_TEST(message == memory_pattern(5, length));
}

BOOST_AUTO_TEST_SUITE(segmentation)

// IBTA A14.3: every request of an extended reliable connection names an SRQ, in each of its packets.
BOOST_AUTO_TEST_CASE(packets_of_xrc_have_its_opcodes_and_the_number_of_the_srq) {
  SendRequest request = RequesterBench::request(WorkOpcode::send, 1000);
  request.length = 1000;
  request.remote_srq = 0x654321;
  for (const WorkOpcode opcode : {WorkOpcode::send, WorkOpcode::rdma_write, WorkOpcode::rdma_read,
                                  WorkOpcode::atomic_fetch_add, WorkOpcode::send_with_invalidate}) {
    request.opcode = opcode;
    for (std::uint32_t at = 0; at < packet_count(request, 256); ++at) {
      wire::TransportHeaders headers;
      build_request(request, at, 4, 4 - at, 256, headers, wire::Service::xrc);
      BOOST_TEST((headers.bth.opcode.service() == wire::Service::xrc));
      BOOST_TEST((wire::traits(headers.bth.opcode).headers & wire::has_xrceth) != 0);
      BOOST_TEST(headers.xrceth.srq_number == 0x654321u);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_kind_mtu_and_size) {
  for (const Kind& kind : kKinds) {
    for (std::uint32_t mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
      for (std::uint32_t length : {0u, 1u, 2u, 3u, 4u, mtu - 1, mtu, mtu + 1, 2 * mtu, 3 * mtu + 2}) {
        check_message(kind, mtu, length);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(psns_follow_each_other_and_wrap) {
  RequesterBench b({.first_psn = 0xFFFFFE});
  b.post(WorkOpcode::rdma_write, 3 * 1024);
  b.post(WorkOpcode::send, 8);
  b.expect(write_first, 0);
  b.expect(write_middle, 1);
  BOOST_TEST(b.expect(write_last, 2).headers.bth.psn.value() == 0u);
  b.expect(send_only, 3);
  b.inject(ack(3));
  b.expect_completion(0);
  b.expect_completion(1);
}

BOOST_AUTO_TEST_CASE(read_takes_a_psn_for_each_response_packet) {
  RequesterBench b;
  b.post(WorkOpcode::rdma_read, 2 * 1024 + 1);
  b.post(WorkOpcode::rdma_read, 0);
  b.post(WorkOpcode::rdma_write, 4);
  const SentPacket read = b.expect(read_request, 0);
  BOOST_TEST(read.payload.empty());
  BOOST_TEST(read.headers.reth.virtual_address == kRemote);
  BOOST_TEST(read.headers.reth.rkey.value == kRkey);
  BOOST_TEST(read.headers.reth.dma_length == 2049u);
  BOOST_TEST(b.expect(read_request, 3).headers.reth.dma_length == 0u);
  b.expect(write_only, 4);
}

BOOST_AUTO_TEST_CASE(atomics_carry_their_operands) {
  RequesterBench b;
  b.post(WorkOpcode::atomic_compare_swap, 8);
  b.post(WorkOpcode::atomic_fetch_add, 8);
  const SentPacket swap = b.expect(compare_swap, 0);
  BOOST_TEST(swap.headers.atomic_eth.virtual_address == kRemote);
  BOOST_TEST(swap.headers.atomic_eth.rkey.value == kRkey);
  BOOST_TEST(swap.headers.atomic_eth.compare == 0x1111u);
  BOOST_TEST(swap.headers.atomic_eth.swap_or_add == 0x2222u);
  BOOST_TEST(swap.payload.empty());
  const SentPacket add = b.expect(fetch_add, 1);
  BOOST_TEST(add.headers.atomic_eth.swap_or_add == 0x1111u);
  BOOST_TEST(add.headers.atomic_eth.compare == 0u);
}

BOOST_AUTO_TEST_CASE(solicited_bit_stands_on_the_last_packet_that_ends_in_a_receive) {
  RequesterBench b;
  for (WorkOpcode opcode :
       {WorkOpcode::send, WorkOpcode::rdma_write_with_immediate, WorkOpcode::rdma_write}) {
    SendRequest request = b.request(opcode, 2048);
    request.solicited = true;
    b.post(request);
  }
  BOOST_TEST(!b.expect(send_first, 0).headers.bth.solicited);
  BOOST_TEST(b.expect(send_last, 1).headers.bth.solicited);
  BOOST_TEST(!b.expect(write_first, 2).headers.bth.solicited);
  BOOST_TEST(b.expect(write_last_immediate, 3).headers.bth.solicited);
  BOOST_TEST(!b.expect(write_first, 4).headers.bth.solicited);
  BOOST_TEST(!b.expect(write_last, 5).headers.bth.solicited);
  b.post(WorkOpcode::send, 8);
  BOOST_TEST(!b.expect(send_only, 6).headers.bth.solicited);
}

BOOST_AUTO_TEST_CASE(gather_list_is_one_message) {
  RequesterBench b({.path_mtu = 256});
  const Sge sges[] = {{kBase + 100, 3, Lkey{kKey}},
                      {kBase, 0, Lkey{0xBAD}},  // no bytes: its key is not looked at
                      {kBase + 500, 300, Lkey{kKey}},
                      {kBase + 1000, 1, Lkey{kKey}}};
  SendRequest request = b.request(WorkOpcode::send, 0);
  request.sges = sges;
  b.post(request);
  std::vector<std::byte> expected = memory_pattern(100, 3);
  for (const auto& piece : {memory_pattern(500, 300), memory_pattern(1000, 1)}) {
    expected.insert(expected.end(), piece.begin(), piece.end());
  }
  std::vector<std::byte> message = b.expect(send_first, 0).payload;
  const SentPacket last = b.expect(send_last, 1);
  message.insert(message.end(), last.payload.begin(), last.payload.end());
  BOOST_TEST(message == expected);
}

BOOST_AUTO_TEST_CASE(inline_data_needs_no_memory) {
  RequesterBench b({.path_mtu = 256});
  const std::vector<std::byte> data = pattern(300, 9);
  SendRequest request = b.request(WorkOpcode::rdma_write, 0);
  request.is_inline = true;
  request.sges = {};
  request.inline_data = data;
  b.post(request);
  std::vector<std::byte> message = b.expect(write_first, 0).payload;
  const SentPacket last = b.expect(write_last, 1);
  message.insert(message.end(), last.payload.begin(), last.payload.end());
  BOOST_TEST(message == data);
}

// Packets end before, in and behind the inline data.
BOOST_AUTO_TEST_CASE(inline_data_in_front_of_segments) {
  for (const std::size_t in_front : {1u, 255u, 256u, 257u, 300u, 511u, 512u}) {
    RequesterBench b({.path_mtu = 256});
    const std::vector<std::byte> data = pattern(in_front, 9);
    SendRequest request = b.request(WorkOpcode::rdma_write, 300);
    request.is_inline = true;
    request.inline_data = data;
    b.post(request);
    std::vector<std::byte> expected = data;
    for (const std::byte byte : memory_pattern(0, 300)) expected.push_back(byte);
    const auto packets = static_cast<std::uint32_t>((expected.size() + 255) / 256);
    std::vector<std::byte> message;
    for (std::uint32_t i = 0; i < packets; ++i) {
      const auto operation = i == 0 ? write_first : i + 1 == packets ? write_last : write_middle;
      const SentPacket packet = b.expect(operation, i);
      if (i == 0) BOOST_TEST(packet.headers.reth.dma_length == expected.size());
      message.insert(message.end(), packet.payload.begin(), packet.payload.end());
    }
    BOOST_TEST(message == expected);
  }
}

BOOST_AUTO_TEST_CASE(segments_behind_inline_data_need_their_key) {
  RequesterBench b({.path_mtu = 256});
  const std::vector<std::byte> data = pattern(256, 9);
  const Sge sge{kBase, 10, Lkey{0xBAD}};
  SendRequest request = b.request(WorkOpcode::send, 0);
  request.is_inline = true;
  request.inline_data = data;
  request.sges = {&sge, 1};
  b.post(request);
  b.expect(send_first, 0);
  b.expect_completion(0, WorkStatus::local_protection_error);
}

// What recovery modes build on: packets out of order and alone are those of the message in order.
BOOST_AUTO_TEST_CASE(any_packet_can_be_made_from_its_place) {
  SendRequest request = RequesterBench::request(WorkOpcode::rdma_write_with_immediate, 1000);
  request.length = 1000;
  const Operation operations[] = {write_first, write_middle, write_middle, write_last_immediate};
  BOOST_TEST(packet_count(request, 256) == 4u);
  for (const std::uint32_t at : {3u, 0u, 2u, 1u, 2u}) {
    wire::TransportHeaders headers;
    const Segment segment = build_request(request, at, 4, 1, 256, headers);
    BOOST_TEST(segment.offset == at * 256u);
    BOOST_TEST(segment.length == (at == 3 ? 232u : 256u));
    BOOST_TEST(segment.packets == 1u);
    BOOST_TEST((headers.bth.opcode.operation() == operations[at]));
  }
}

BOOST_AUTO_TEST_CASE(part_of_a_read_is_a_read_of_its_own) {
  SendRequest request = RequesterBench::request(WorkOpcode::rdma_read, 1000);
  request.length = 1000;
  const struct {
    std::uint32_t at, wanted, packets, length;
  } rows[] = {{0, 4, 4, 1000}, {0, 1, 1, 256}, {1, 2, 2, 512}, {2, 2, 2, 488}, {3, 9, 1, 232}};
  for (const auto& row : rows) {
    wire::TransportHeaders headers;
    const Segment segment = build_request(request, row.at, 4, row.wanted, 256, headers);
    BOOST_TEST(segment.packets == row.packets);
    BOOST_TEST(segment.length == 0u);
    BOOST_TEST(headers.reth.dma_length == row.length);
    BOOST_TEST(headers.reth.virtual_address == kRemote + row.at * 256);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace urnic::transport::requester_test
