// Small messages that travel in the CQE: which do, and that nothing else about them differs.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace inline_receive {

constexpr std::uint8_t kLocalLengthError = 1;
constexpr std::uint8_t kLocalProtectionError = 4;
constexpr std::uint8_t kFlushed = 5;
constexpr std::uint8_t kSeed = 3;
constexpr std::size_t kSource = 512 * 1024;

struct Receiver : Fabric {
  TestQp qp0{program0, 0, {}};
  TestQp qp1{program1, 1, {}};
  Receiver() {
    connect(qp0, qp1);
    program0.fill(kSource, 8192, kSeed);
  }

  void send(std::uint32_t length, abi::SendOpcode opcode = abi::SendOpcode::send) {
    const abi::ScatterGather from[] = {program0.sge(kSource, length)};
    qp0.post_send(wqe(opcode), from);
  }
  // Sends `length` bytes to the receive that was posted, and takes the completion without placing data.
  Polled deliver(std::uint32_t length) {
    send(length);
    run();
    const auto received = qp1.receive_cq.poll();
    BOOST_REQUIRE(received);
    return *received;
  }
  static bool is_inline(const Polled& entry) { return (entry.flags & abi::cqe_inline) != 0; }
  bool is_untouched(std::size_t offset, std::size_t length) const {
    for (std::size_t i = 0; i < length; ++i) {
      if (program1.bytes[offset + i] != std::byte{0}) return false;
    }
    return true;
  }
};

}  // namespace inline_receive

BOOST_FIXTURE_TEST_SUITE(inline_receive, Receiver)

BOOST_AUTO_TEST_CASE(what_fits_into_the_cqe_travels_there_and_the_rest_does_not) {
  for (const std::uint32_t length : {0u, 1u, 8u, 31u, 32u, 33u, 1024u, 1025u}) {
    const std::size_t at = 16384 * (qp1.receive_producer + 1);
    const abi::ScatterGather to[] = {program1.private_sge(at, 2000)};
    qp1.post_receive(to);
    const Polled received = deliver(length);
    BOOST_TEST(received.status == 0);
    BOOST_TEST(received.byte_length == length);
    BOOST_TEST(is_inline(received) == (length > 0 && length <= abi::kCqeInlineBytes));
    if (is_inline(received)) {
      BOOST_TEST(is_untouched(at, 2000));
      BOOST_TEST(std::memcmp(received.inline_data.data(), program0.bytes.data() + kSource, length) == 0);
    } else {
      BOOST_TEST(program1.holds(at, length, kSeed));
    }
  }
}

BOOST_AUTO_TEST_CASE(who_polls_finds_it_in_all_its_segments) {
  const abi::ScatterGather to[] = {program1.private_sge(1, 3), program1.private_sge(100, 10),
                                   program1.private_sge(4, 20)};
  qp1.post_receive(to);
  send(20);
  run();
  const auto received = qp1.poll_receive();
  BOOST_REQUIRE(received);
  BOOST_TEST(is_inline(*received));
  const std::byte* const sent = program0.bytes.data() + kSource;
  BOOST_TEST(std::memcmp(program1.bytes.data() + 1, sent, 3) == 0);
  BOOST_TEST(std::memcmp(program1.bytes.data() + 100, sent + 3, 10) == 0);
  BOOST_TEST(std::memcmp(program1.bytes.data() + 4, sent + 13, 7) == 0);
  BOOST_TEST(is_untouched(11, 13));
}

BOOST_AUTO_TEST_CASE(immediate_data_comes_beside_it) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  qp1.post_receive(to);
  abi::SendWqe head = wqe(abi::SendOpcode::send_with_immediate);
  head.immediate_or_rkey = 0x01020304;
  qp0.post_inline(head, std::span(program0.bytes).subspan(kSource, 30));
  run();
  const auto received = qp1.poll_receive();
  BOOST_REQUIRE(received);
  BOOST_TEST(received->flags == (abi::cqe_receive | abi::cqe_with_immediate | abi::cqe_inline));
  BOOST_TEST(received->immediate_or_rkey == 0x01020304u);
  BOOST_TEST(program1.holds(0, 30, kSeed));
}

// A peer that has sent may read, and write anew, what it has the right to: it must find it in place.
BOOST_AUTO_TEST_CASE(memory_that_peers_may_use_is_written_by_the_device) {
  const abi::ScatterGather shared[] = {program1.sge(0, 64)};
  qp1.post_receive(shared);
  BOOST_TEST(!is_inline(deliver(8)));
  BOOST_TEST(program1.holds(0, 8, kSeed));
  const abi::ScatterGather mixed[] = {program1.private_sge(100, 4), program1.sge(200, 64)};
  qp1.post_receive(mixed);
  BOOST_TEST(is_inline(deliver(4)));
  qp1.post_receive(mixed);
  BOOST_TEST(!is_inline(deliver(5)));
}

BOOST_AUTO_TEST_CASE(memory_that_has_other_addresses_for_the_device_is_written_by_it) {
  transport::Lkey key;
  engine.execute([&] {
    key = *device1.memory_table().add_region({.memory = &program1.memory,
                                              .pd = program1.pd,
                                              .address = program1.address(4096),
                                              .iova = 0,
                                              .length = 4096,
                                              .access = memory::access_local_write});
  });
  const abi::ScatterGather to[] = {{16, 64, key.value}};
  qp1.post_receive(to);
  BOOST_TEST(!is_inline(deliver(8)));
  BOOST_TEST(program1.holds(4096 + 16, 8, kSeed));
}

BOOST_AUTO_TEST_CASE(a_context_that_several_processes_use_has_its_memory_written) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  qp1.post_receive(to);
  BOOST_TEST(is_inline(deliver(8)));
  engine.execute([&] { program1.several_processes = true; });
  qp1.post_receive(to);
  BOOST_TEST(!is_inline(deliver(8)));
  BOOST_TEST(program1.holds(0, 8, kSeed));
}

BOOST_AUTO_TEST_CASE(a_key_is_checked_when_the_message_comes) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  qp1.post_receive(to);
  engine.execute([&] { device1.memory_table().remove_region(program1.private_key); });
  const Polled received = deliver(8);
  BOOST_TEST(received.status == kLocalProtectionError);
  BOOST_TEST(!is_inline(received));
}

BOOST_AUTO_TEST_CASE(a_receive_that_is_too_short_is_an_error) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 7)};
  qp1.post_receive(to);
  const Polled received = deliver(8);
  BOOST_TEST(received.status == kLocalLengthError);
  BOOST_TEST(!is_inline(received));
  BOOST_TEST(is_untouched(0, 64));
}

// The completions of long and short messages come in the order of the messages, though only the long ones
// wait for memory.
BOOST_AUTO_TEST_CASE(order_is_kept_among_long_and_short_messages) {
  for (std::uint32_t i = 0; i < 60; ++i) {
    const abi::ScatterGather to[] = {program1.private_sge(8192 * i, 8192)};
    qp1.post_receive(to);
    send(i % 3 == 0 ? 5000 : 16);
  }
  run();
  for (std::uint32_t i = 0; i < 60; ++i) {
    const auto received = qp1.poll_receive();
    BOOST_REQUIRE(received);
    BOOST_TEST(received->wqe_index == i);
    BOOST_TEST(received->byte_length == (i % 3 == 0 ? 5000u : 16u));
    BOOST_TEST(is_inline(*received) == (i % 3 != 0));
    BOOST_TEST(program1.holds(8192 * i, received->byte_length, kSeed));
  }
}

// What lies behind an access that fails never was, though it needed no access itself.
BOOST_AUTO_TEST_CASE(short_messages_behind_one_that_cannot_be_written_are_flushed) {
  const abi::ScatterGather good[] = {program1.private_sge(0, 64)};
  const abi::ScatterGather gone[] = {program1.private_sge(Program::kBytes - 4096, 4096)};
  program1.memory.remove_range(program1.bytes);
  program1.memory.add_range(std::span(program1.bytes).first(Program::kBytes / 2));
  qp1.post_receive(good);
  qp1.post_receive(gone);
  qp1.post_receive(good);
  for (const std::uint32_t length : {8u, 1000u, 8u}) send(length);
  run();
  const std::uint8_t expected[] = {0, kLocalProtectionError, kFlushed};
  for (std::uint32_t i = 0; i < 3; ++i) {
    const auto received = qp1.receive_cq.poll();
    BOOST_REQUIRE(received);
    BOOST_TEST(received->wqe_index == i);
    BOOST_TEST(received->status == expected[i]);
    BOOST_TEST(is_inline(*received) == (i == 0));
  }
  BOOST_TEST(!qp1.receive_cq.poll());
}

BOOST_AUTO_TEST_CASE(a_write_with_immediate_has_nothing_to_place) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  for (const abi::SendOpcode opcode :
       {abi::SendOpcode::send, abi::SendOpcode::rdma_write_with_immediate, abi::SendOpcode::send}) {
    qp1.post_receive(to);
    abi::SendWqe head = wqe(opcode);
    head.remote_address = program1.address(4096);
    head.rkey = program1.key.value;
    const abi::ScatterGather from[] = {program0.sge(kSource, 8)};
    qp0.post_send(head, from);
  }
  run();
  BOOST_TEST(is_inline(*qp1.receive_cq.poll()));
  const auto written = qp1.receive_cq.poll();
  BOOST_TEST(written->flags == (abi::cqe_receive | abi::cqe_with_immediate));
  BOOST_TEST(program1.holds(4096, 8, kSeed));
  BOOST_TEST(is_inline(*qp1.receive_cq.poll()));
}

BOOST_AUTO_TEST_CASE(a_resized_queue_keeps_the_data_of_its_entries) {
  const abi::ScatterGather to[] = {program1.private_sge(0, 64)};
  for (int i = 0; i < 3; ++i) {
    qp1.post_receive(to);
    send(8);
  }
  run();
  std::vector<abi::Cqe> larger(512);
  engine.execute([&] {
    CompletionQueue& queue = *qp1.receive_cq.device_end;
    queue.begin_move(larger.data(), 512);
    BOOST_CHECK(queue.move(512) == CompletionQueue::Moved::all);
  });
  for (std::uint32_t i = 0; i < 3; ++i) {
    BOOST_TEST((larger[i].flags & abi::cqe_inline) != 0);
    BOOST_TEST(std::memcmp(larger[i].inline_data, program0.bytes.data() + kSource, 8) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
