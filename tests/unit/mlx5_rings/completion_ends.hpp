#pragma once
// The device's end of a completion queue, and a program that polls it.

#include <boost/test/unit_test.hpp>

#include "device_model/engine/mlx5_rings/completion_ring.hpp"
#include "tests/unit/mlx5_rings/completion_end.hpp"

namespace urnic::engine::mlx5::test {

inline constexpr wire::Qpn kQpn{0xABCDEF};
inline constexpr std::uint32_t kUserIndex = 0x123456;

struct CompletionEnds {
  explicit CompletionEnds(std::uint32_t slots = 8, std::uint32_t entry_bytes = 64,
                          CompletionClock* clock = nullptr, bool exact = false)
      : program(slots, entry_bytes),
        device({.ring = program.buffer->begin(),
                .slots = slots,
                .cqe_bytes = entry_bytes,
                .doorbells = &program.doorbells,
                .queues = &queues,
                .clock = clock,
                .exact_times = exact}) {
    queues.add(kQpn, {kUserIndex, nullptr});
  }
  bool write(std::uint32_t index, bool solicited = false) {
    transport::Completion completion = received(index);
    completion.solicited = solicited;
    return device.write(completion, 0);
  }
  static transport::Completion received(std::uint32_t index) {
    transport::Completion completion;
    completion.qpn = kQpn;
    completion.wqe_index = index;
    completion.receive = true;
    completion.opcode = transport::CompletionOpcode::receive;
    return completion;
  }
  PolledCqe poll() {
    const std::optional<PolledCqe> polled = program.poll();
    BOOST_REQUIRE(polled);
    return *polled;
  }

  CompletedQueues queues;
  CompletionEnd program;
  CompletionRing device;
};

}  // namespace urnic::engine::mlx5::test
