#include "tests/unit/storm/traffic.hpp"

#include <algorithm>

namespace urnic::engine::storm {

using test::Program;
using test::TestQp;
using transport::QpState;

namespace {

std::uint32_t random_length(Chance& chance) {
  switch (chance.number(0, 5)) {
    case 0:
      return chance.number(0, 64);
    case 1:
    case 2:
      return chance.number(0, 2000);
    case 3:
    case 4:
      return chance.number(0, 12'000);
    default:
      return chance.number(0, 100'000);
  }
}

bool is_eight_bytes(abi::SendOpcode opcode) {
  return opcode == abi::SendOpcode::atomic_compare_swap || opcode == abi::SendOpcode::atomic_fetch_add ||
         opcode == abi::SendOpcode::atomic_write;
}

}  // namespace

std::vector<abi::ScatterGather> random_ranges(Chance& chance, const Program& program) {
  std::vector<abi::ScatterGather> ranges(chance.number(1, chance.one_in(4) ? 3 : 1));
  const std::uint32_t length = random_length(chance) / static_cast<std::uint32_t>(ranges.size());
  for (abi::ScatterGather& range : ranges) {
    range = program.sge(chance.up_to(Program::kBytes - length), length);
    if (chance.one_in(500)) range.lkey ^= 1;
  }
  return ranges;
}

abi::SendWqe random_request(Chance& chance, const Program& target) {
  using enum abi::SendOpcode;
  const abi::SendOpcode opcode =
      chance.one_of({rdma_write, rdma_write, rdma_write_with_immediate, send, send, send_with_immediate,
                     rdma_read, rdma_read, atomic_compare_swap, atomic_fetch_add, atomic_write});
  abi::SendWqe head = test::wqe(opcode, 0);
  if (chance.one_in(3)) head.flags |= abi::send_signaled;
  if (chance.one_in(10)) head.flags |= abi::send_fence;
  if (chance.one_in(10)) head.flags |= abi::send_solicited;
  head.rkey = target.key.value;
  head.remote_address = target.address(chance.up_to(Program::kBytes / 8 - 1) * 8);
  head.compare_add = chance.up_to(3);
  head.swap = chance.up_to(3);
  if (chance.one_in(200)) head.rkey ^= 1;
  if (chance.one_in(500)) {
    head.opcode = static_cast<std::uint8_t>(
        chance.one_of({local_invalidate, bind_memory_window, send_with_invalidate, abi::SendOpcode{77}}));
  }
  return head;
}

void post_random(Chance& chance, TestQp& queue_pair, const Program& from, const abi::SendWqe& request) {
  const auto opcode = static_cast<abi::SendOpcode>(request.opcode);
  const bool reads = opcode == abi::SendOpcode::rdma_read;
  if (opcode == abi::SendOpcode::atomic_write || (!reads && !is_eight_bytes(opcode) && chance.one_in(4))) {
    std::vector<std::byte> data(opcode == abi::SendOpcode::atomic_write ? 8 : chance.number(0, 100));
    return queue_pair.post_inline(request, data);
  }
  std::vector<abi::ScatterGather> ranges = random_ranges(chance, from);
  if (is_eight_bytes(opcode)) ranges = {from.sge(chance.up_to(Program::kBytes - 8), 8)};
  queue_pair.post_send(request, ranges);
}

void choose_modes(Chance& chance, QueuePairContext& queue_pair) {
  using enum transport::RecoveryMode;
  using enum transport::CongestionAlgorithm;
  queue_pair.set_recovery({.mode = chance.one_of({gbn, selective, irn, sack})});
  // A storm's round trips are long: no rate may fall so low that it does not end.
  queue_pair.set_congestion(
      {.algorithm = chance.one_of({off, off, dcqcn, rtt, timely}), .least = transport::SendRate::gbps(1)});
}

void disturb_state(Chance& chance, Engine& engine, TestQp& queue_pair) {
  QueuePairContext& hosted = queue_pair.device_end();
  const auto to = [&](QpState state) {
    engine.execute([&] { hosted.modify(state, hosted.parameters(), std::nullopt); });
  };
  if (hosted.state() == QpState::rts && chance.one_in(2)) return to(QpState::sqd);
  if (hosted.state() == QpState::sqd) return to(QpState::rts);
  to(QpState::error);
}

void connect_anew(Engine& engine, TestQp& queue_pair, TestQp& peer, std::uint32_t path_mtu) {
  engine.execute([&] {
    QueuePairContext& hosted = queue_pair.device_end();
    hosted.modify(QpState::reset, hosted.parameters(), std::nullopt);
  });
  queue_pair.send_producer = queue_pair.receive_producer = 0;
  queue_pair.connect_to(peer, path_mtu);
}

}  // namespace urnic::engine::storm
