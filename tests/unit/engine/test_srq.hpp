// A shared receive queue whose program is the test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "tests/unit/engine/program.hpp"

namespace urnic::engine::test {

class TestSrq {
 public:
  static constexpr std::uint32_t kSlotSize = 64;
  static constexpr std::uint64_t kUserHandle = 7000;

  TestSrq(Program& program, std::uint32_t count) : TestSrq(program, count, program.pd) {}
  // In an XRC domain, completing to `cq`; or, with null, in none.
  TestSrq(Program& program, std::uint32_t count, transport::PdId pd, XrcDomain* domain = nullptr,
          CompletionQueue* cq = nullptr);
  ~TestSrq();

  // Writes a WQE to `slot`, and `number`, which need not be its, to the ring.
  void write(std::uint32_t slot, std::span<const abi::ScatterGather> sges);
  void publish(std::uint32_t number);
  void post(std::uint32_t slot, std::span<const abi::ScatterGather> sges);
  void arm(std::uint32_t limit);
  // As the control thread does it.
  void grow(std::uint32_t count);

  std::uint32_t slot_count;
  std::vector<std::byte> slots;
  std::vector<std::uint32_t> posted;
  abi::SharedReceiveIndices indices{};
  std::unique_ptr<SharedReceiveQueue> device_end;

 private:
  Program& program_;
};

}  // namespace urnic::engine::test
