// The program's end of a shared receive queue: slots in plain memory, written as the provider writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/in_process/context_end.hpp"

namespace urnic::in_process {

class SharedReceivesEnd {
 public:
  static constexpr std::uint32_t kSlotSize = 64;
  static constexpr std::uint64_t kUserHandle = 7000;

  // Of `count` slots, a power of two. In an XRC domain, completing to `cq`; or, with null, in none. All that
  // it refers to outlives it.
  SharedReceivesEnd(ContextEnd& context, std::uint32_t count, transport::PdId pd,
                    engine::XrcDomain* domain = nullptr, engine::CompletionQueue* cq = nullptr);

  // Writes a WQE to `slot`, and `number`, which need not be its, to the ring.
  void write(std::uint32_t slot, std::span<const abi::ScatterGather> sges);
  void publish(std::uint32_t number);
  void post(std::uint32_t slot, std::span<const abi::ScatterGather> sges);

  std::uint32_t slot_count;
  std::vector<std::byte> slots;
  std::vector<std::uint32_t> posted;
  abi::SharedReceiveIndices indices{};
  // To be installed, and destroyed, on the engine's thread.
  std::unique_ptr<engine::SharedReceiveQueue> device_end;
};

}  // namespace urnic::in_process
