// Every kind of work request from a WQE in memory to the peer's memory and both completions.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

namespace {

struct Pair : Fabric {
  TestQp qp0{program0, 3, {}};
  TestQp qp1{program1, 70, {}};
};

void check_success(const std::optional<Polled>& entry, std::uint32_t wqe_index) {
  BOOST_REQUIRE(entry);
  BOOST_TEST(entry->status == 0);
  BOOST_TEST(entry->wqe_index == wqe_index);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(transfer, Pair)

BOOST_AUTO_TEST_CASE(send_of_several_packets_from_and_to_several_segments) {
  connect(qp0, qp1);
  program0.fill(100, 5000, 1);
  const abi::ScatterGather from[] = {program0.sge(100, 1), program0.sge(101, 2999), program0.sge(3100, 2000)};
  const abi::ScatterGather to[] = {program1.sge(7, 4097), program1.sge(4104, 2000)};
  qp1.post_receive(to);
  qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();
  check_success(qp0.send_cq.poll(), 0);
  const auto received = qp1.receive_cq.poll();
  check_success(received, 0);
  BOOST_TEST(received->byte_length == 5000u);
  BOOST_TEST(program1.holds(7, 5000, 1));
}

// A program does not wait until its QP is in RTS: it may post first, and ring.
BOOST_AUTO_TEST_CASE(what_is_posted_before_the_device_is_in_rts_is_sent_then) {
  for (const transport::QpService service : {transport::QpService::rc, transport::QpService::uc}) {
    TestQp one(program0, 5, {.service = service});
    TestQp other(program1, 6, {.service = service});
    other.connect_to(one, 1024);
    const abi::ScatterGather to[] = {program1.sge(0, 64)};
    other.post_receive(to);
    const transport::QpParameters parameters = Fabric::parameters(other, 1024);
    const auto modify = [&](transport::QpState state) {
      engine.execute([&] { one.device_end().modify(state, parameters, Fabric::path(device0, device1)); });
    };
    modify(transport::QpState::init);
    modify(transport::QpState::rtr);
    const abi::ScatterGather from[] = {program0.sge(100, 64)};
    one.post_send(wqe(abi::SendOpcode::send), from);
    run();
    BOOST_TEST(!one.send_cq.poll());
    modify(transport::QpState::rts);
    run();
    check_success(one.send_cq.poll(), 0);
    check_success(other.receive_cq.poll(), 0);
  }
}

BOOST_AUTO_TEST_CASE(inline_send_with_immediate) {
  connect(qp0, qp1);
  const abi::ScatterGather to[] = {program1.sge(0, 64)};
  qp1.post_receive(to);
  program0.fill(0, 30, 9);
  abi::SendWqe head = wqe(abi::SendOpcode::send_with_immediate);
  head.immediate_or_rkey = 0x01020304;
  qp0.post_inline(head, std::span(program0.bytes).first(30));
  run();
  check_success(qp0.send_cq.poll(), 0);
  const auto received = qp1.receive_cq.poll();
  check_success(received, 0);
  BOOST_TEST(received->byte_length == 30u);
  BOOST_TEST(received->flags == (abi::cqe_receive | abi::cqe_with_immediate));
  BOOST_TEST(received->immediate_or_rkey == 0x01020304u);
  BOOST_TEST(program1.holds(0, 30, 9));
}

BOOST_AUTO_TEST_CASE(write_and_read) {
  for (const std::uint32_t length : {1u, 2u, 7u, 8u, 9u, 1023u, 1024u, 1025u, 65536u, 300001u}) {
    for (const std::uint32_t offset : {0u, 3u}) {
      TestQp one(program0, 5, {});
      TestQp other(program1, 6, {});
      connect(one, other, 1024);
      program0.fill(offset, length, 3);
      abi::SendWqe head = wqe(abi::SendOpcode::rdma_write);
      head.remote_address = program1.address(16 + offset);
      head.rkey = program1.key.value;
      const abi::ScatterGather from[] = {program0.sge(offset, length)};
      one.post_send(head, from);
      run();
      check_success(one.send_cq.poll(), 0);
      BOOST_TEST(program1.holds(16 + offset, length, 3));

      head.opcode = static_cast<std::uint8_t>(abi::SendOpcode::rdma_read);
      const abi::ScatterGather back[] = {program0.sge(400000 + offset, length)};
      one.post_send(head, back);
      run();
      const auto entry = one.send_cq.poll();
      check_success(entry, 1);
      BOOST_TEST(entry->byte_length == length);
      BOOST_TEST(program0.holds(400000 + offset, length, 3));
      std::memset(program1.bytes.data(), 0, program1.bytes.size());
    }
  }
}

BOOST_AUTO_TEST_CASE(atomics_one_behind_the_other_see_each_other) {
  connect(qp0, qp1);
  const std::uint64_t initial = 100;
  std::memcpy(program1.bytes.data() + 64, &initial, 8);
  abi::SendWqe add = wqe(abi::SendOpcode::atomic_fetch_add);
  add.remote_address = program1.address(64);
  add.rkey = program1.key.value;
  add.compare_add = 5;
  for (std::size_t i = 0; i < 20; ++i) {
    const abi::ScatterGather to[] = {program0.sge(8 * i, 8)};
    qp0.post_send(add, to);
  }
  abi::SendWqe swap = add;
  swap.opcode = static_cast<std::uint8_t>(abi::SendOpcode::atomic_compare_swap);
  swap.compare_add = 200;
  swap.swap = 7;
  const abi::ScatterGather to[] = {program0.sge(160, 8)};
  qp0.post_send(swap, to);
  run();
  for (std::uint32_t i = 0; i < 21; ++i) {
    check_success(qp0.send_cq.poll(), i);
    std::uint64_t seen = 0;
    std::memcpy(&seen, program0.bytes.data() + 8 * i, 8);
    BOOST_TEST(seen == 100 + 5 * i);
  }
  std::uint64_t value = 0;
  std::memcpy(&value, program1.bytes.data() + 64, 8);
  BOOST_TEST(value == 7u);
}

BOOST_AUTO_TEST_CASE(both_ends_on_one_device) {
  TestQp other(program0, 4, {});
  connect(qp0, other);
  program0.fill(0, 3000, 4);
  const abi::ScatterGather from[] = {program0.sge(0, 3000)};
  const abi::ScatterGather to[] = {program0.sge(10000, 3000)};
  other.post_receive(to);
  qp0.post_send(wqe(abi::SendOpcode::send), from);
  run();
  check_success(qp0.send_cq.poll(), 0);
  check_success(other.receive_cq.poll(), 0);
  BOOST_TEST(program0.holds(10000, 3000, 4));
}

BOOST_AUTO_TEST_CASE(a_full_ring_goes_round_many_times) {
  connect(qp0, qp1);
  for (std::uint32_t lap = 0; lap < 40; ++lap) {
    for (std::uint32_t i = 0; i < 64; ++i) {
      const abi::ScatterGather to[] = {program1.sge(8 * i, 8)};
      qp1.post_receive(to);
    }
    for (std::uint32_t i = 0; i < 64; ++i) {
      const std::uint64_t value = lap * 64 + i;
      qp0.post_inline(wqe(abi::SendOpcode::send), std::as_bytes(std::span(&value, 1)));
    }
    run();
    for (std::uint32_t i = 0; i < 64; ++i) {
      check_success(qp0.send_cq.poll(), lap * 64 + i);
      check_success(qp1.receive_cq.poll(), lap * 64 + i);
      std::uint64_t value = 0;
      std::memcpy(&value, program1.bytes.data() + 8 * i, 8);
      BOOST_TEST(value == lap * 64 + i);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace urnic::engine::test
