// The ring of CQEs of urnic's own face (abi/queues.hpp): a phase bit tells the program which are valid.
#pragma once

#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/abi/tag_matching_ring.hpp"
#include "device_model/engine/completion/written_completions.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

struct CompletionRingConfig {
  abi::Cqe* ring = nullptr;  // all zero: holds no valid CQE
  std::uint32_t slots = 0;   // a power of two
  abi::CompletionQueueIndices* indices = nullptr;
  // Returns the timestamp of a completion in nanoseconds; null: completions have none. With timestamps,
  // received data never travels in the CQE.
  std::uint64_t (*clock)() = nullptr;
  // Received data never travel in the CQE: they could be lost with it.
  bool may_lose = false;
};

class CompletionRing final : public WrittenCompletions {
 public:
  // The memory outlives this.
  explicit CompletionRing(const CompletionRingConfig& config) : config_(config) {}

  bool write(const transport::Completion& completion, std::uint32_t shared_receive_queue) override;
  bool write_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                    std::uint8_t flags, const abi::TagInfo& info) override;
  abi::ArmKind armed() override;
  void fired() override;
  bool has_room_for_data() const override { return config_.clock == nullptr && !config_.may_lose; }
  CompletionIndices indices() const override {
    return {config_.slots, producer_, config_.indices->consumer.load(std::memory_order_relaxed)};
  }
  // `ring` must be all zero. The program must not poll until `move` says `all`.
  void begin_move(void* ring, std::uint32_t slots) override;
  Moved move(std::uint32_t most) override;

 private:
  // The target of a move of unread CQEs from CQE number `begin` on; those before `next` are moved.
  struct NewRing {
    abi::Cqe* ring = nullptr;
    std::uint32_t slots = 0;
    std::uint32_t begin = 0;
    std::uint32_t next = 0;
  };

  std::uint8_t phase(std::uint32_t index) const;
  bool full();

  CompletionRingConfig config_;
  NewRing new_ring_;
  std::uint32_t producer_ = 0;
  std::uint32_t consumer_ = 0;  // as last read; read again only when the ring seems full
  std::uint32_t arm_seen_ = 0;
  std::uint32_t arm_fired_ = 0;
};

}  // namespace urnic::engine
