// Both queues of a QP that libmlx5 drives.
#pragma once

#include <cstdint>

#include "device_model/engine/mlx5_rings/completed_queues.hpp"
#include "device_model/engine/mlx5_rings/receive_ring.hpp"
#include "device_model/engine/mlx5_rings/send_ring.hpp"
#include "device_model/engine/rings/program_queues.hpp"

namespace urnic::engine::mlx5 {

struct QueuePairRingsConfig {
  SendRingConfig sends{};        // without blocks: a receive WQ
  ReceiveRingConfig receives{};  // without slots: the QP has an SRQ
  std::uint32_t user_index = 0;
};

class QueuePairRings final : public ProgramQueues {
 public:
  // The memory outlives this.
  explicit QueuePairRings(const QueuePairRingsConfig& config)
      : sends_(config.sends),
        receives_(config.receives),
        producer_(config.sends.producer),
        user_index_(config.user_index) {}

  PostedSends& sends() override { return sends_; }
  PostedReceives& receives() override { return receives_; }
  const void* send_producer() const override { return producer_; }

  // For CompletedQueues::add.
  CompletedQueue as_completed() const { return {user_index_, &sends_}; }

 private:
  SendRing sends_;
  ReceiveRing receives_;
  const void* producer_;
  std::uint32_t user_index_;
};

}  // namespace urnic::engine::mlx5
