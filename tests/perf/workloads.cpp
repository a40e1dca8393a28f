#include "tests/perf/workloads.hpp"

#include <span>
#include <vector>

#include "device_model/link/link_settings.hpp"

namespace urnic::perf {

namespace {

using engine::test::Fabric;
using engine::test::Program;
using engine::test::TestCq;
using engine::test::TestQp;

constexpr std::uint8_t kPattern = 11;

bool take(TestCq& queue, std::uint32_t entries) {
  bool good = true;
  for (std::uint32_t i = 0; i < entries; ++i) {
    const auto entry = queue.poll();
    good = good && entry && entry->status == 0;
  }
  return good && !queue.poll();
}

// Connects two QPs, with the default recovery.
void connect(TestQp& one, TestQp& other, std::uint32_t path_mtu) {
  for (TestQp* const qp : {&one, &other}) {
    qp->device_end().set_recovery({.mode = transport::RecoveryMode::sack});
  }
  Fabric::connect(one, other, path_mtu);
}

// Posts a WRITE or a READ between the same offsets of both programs.
void post_rdma(TestQp& qp, abi::SendOpcode opcode, const Program& here, const Program& there,
               std::size_t offset, std::uint32_t length) {
  abi::SendWqe head = engine::test::wqe(opcode);
  head.remote_address = there.address(offset);
  head.rkey = there.key.value;
  const abi::ScatterGather piece[] = {here.sge(offset, length)};
  qp.post_send(head, piece);
}

// Large messages on one QP: the cost of a packet.
class LargeWrites final : public Workload {
 public:
  LargeWrites() {
    messages = kDepth;
    batches = 16;
    connect(from_, to_, 4096);
    fabric.program0.fill(0, kDepth * kBytes, kPattern);
  }
  void post() override {
    for (std::size_t i = 0; i < kDepth; ++i) {
      post_rdma(from_, abi::SendOpcode::rdma_write, fabric.program0, fabric.program1, i * kBytes, kBytes);
    }
  }
  bool take_completions() override { return take(from_.send_cq, kDepth); }
  bool arrived() const override { return fabric.program1.holds(0, kDepth * kBytes, kPattern); }

 private:
  static constexpr std::uint32_t kDepth = 16;
  static constexpr std::uint32_t kBytes = 64 * 1024;
  TestQp from_{fabric.program0, 0, {}};
  TestQp to_{fabric.program1, 0, {}};
};

// Small messages on one QP: the cost of a message at both ends.
class SmallSends final : public Workload {
 public:
  SmallSends() {
    messages = kDepth;
    batches = 32;
    connect(from_, to_, 4096);
    fabric.program0.fill(0, kDepth * kBytes, kPattern);
  }
  void post() override {
    for (std::size_t i = 0; i < kDepth; ++i) {
      const abi::ScatterGather to[] = {fabric.program1.private_sge(i * kBytes, kBytes)};
      to_.post_receive(to);
    }
    for (std::size_t i = 0; i < kDepth; ++i) {
      from_.post_inline(engine::test::wqe(abi::SendOpcode::send),
                        std::span(fabric.program0.bytes).subspan(i * kBytes, kBytes));
    }
  }
  bool take_completions() override {
    bool good = take(from_.send_cq, kDepth);
    for (std::uint32_t i = 0; i < kDepth; ++i) {
      const auto entry = to_.poll_receive();
      good = good && entry && entry->status == 0;
    }
    return good && !to_.receive_cq.poll();
  }
  bool arrived() const override { return fabric.program1.holds(0, kDepth * kBytes, kPattern); }

 private:
  static constexpr std::uint32_t kDepth = 128;
  static constexpr std::uint32_t kBytes = 8;
  static constexpr engine::test::QpLayout kLayout{.send_slots = kDepth, .receive_slots = kDepth};
  TestQp from_{fabric.program0, 0, kLayout};
  TestQp to_{fabric.program1, 0, kLayout};
};

// Many QPs that take turns, over links that lose a packet in a hundred: WRITEs, and READs that bring back
// what was written. The cost of recovery, and of state that is not in the cache.
class LossyTurns final : public Workload {
 public:
  LossyTurns() {
    messages = kPairs * kDepth;
    batches = 4;
    for (std::uint32_t i = 0; i < kPairs; ++i) {
      const engine::test::QpLayout layout{.send_slots = 8, .receive_slots = 8, .ordinal = i + 1};
      pairs_.push_back(std::make_unique<Pair>(fabric, i, layout));
      connect(pairs_.back()->from, pairs_.back()->to, 1024);
    }
    fabric.program0.fill(0, kPairs * kBytes, kPattern);
    for (const link::Direction direction : {link::Direction::transmit, link::Direction::receive}) {
      fabric.frame_switch.link(0).configure(
          direction,
          {.rate_gbps = 100, .delay = transport::Nanoseconds(5000), .queue_packets = 4096, .loss = 0.01});
    }
  }
  void post() override {
    for (std::uint32_t turn = 0; turn < kDepth; ++turn) {
      const auto opcode = turn % 2 == 0 ? abi::SendOpcode::rdma_write : abi::SendOpcode::rdma_read;
      for (std::size_t i = 0; i < kPairs; ++i) {
        post_rdma(pairs_[i]->from, opcode, fabric.program0, fabric.program1, i * kBytes, kBytes);
      }
    }
  }
  bool take_completions() override {
    bool good = true;
    for (const auto& pair : pairs_) good = take(pair->from.send_cq, kDepth) && good;
    return good;
  }
  bool arrived() const override {
    return fabric.program1.holds(0, kPairs * kBytes, kPattern) &&
           fabric.program0.holds(0, kPairs * kBytes, kPattern);
  }

 private:
  struct Pair {
    Pair(Fabric& both, std::uint32_t doorbell, const engine::test::QpLayout& layout)
        : from(both.program0, doorbell, layout), to(both.program1, doorbell, layout) {}
    TestQp from;
    TestQp to;
  };
  static constexpr std::uint32_t kPairs = 256;
  static constexpr std::uint32_t kDepth = 4;
  static constexpr std::uint32_t kBytes = 4096;
  std::vector<std::unique_ptr<Pair>> pairs_;
};

}  // namespace

std::unique_ptr<Workload> make_workload(std::string_view name) {
  if (name == "large_writes") return std::make_unique<LargeWrites>();
  if (name == "small_sends") return std::make_unique<SmallSends>();
  if (name == "lossy_turns") return std::make_unique<LossyTurns>();
  return nullptr;
}

}  // namespace urnic::perf
