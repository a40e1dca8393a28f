// The receive queue of a QP, or a receive WQ, that libmlx5 drives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/mlx5/doorbell_record.hpp"
#include "device_model/engine/rings/posted_receives.hpp"

namespace urnic::engine::mlx5 {

struct ReceiveRingConfig {
  const std::byte* ring = nullptr;  // may be null without slots
  std::uint32_t slots = 0;          // a power of two, at most kMostReceiveSlots, or 0
  std::uint32_t stride = 16;        // a multiple of 16
  abi::mlx5::SharedBig32* producer = nullptr;
};

// So that a producer index, which has 16 bits, says how many WQEs are posted.
inline constexpr std::uint32_t kMostReceiveSlots = 32768;

class ReceiveRing final : public PostedReceives {
 public:
  // As SendRing.
  explicit ReceiveRing(const ReceiveRingConfig& config);

  // As SendRing.
  void reset() override;
  bool lied() const override { return lied_; }
  QueuedReceives queued() const override;

  // The lower 16 bits of a request's index are what a CQE calls it.
  bool next(transport::ReceiveRequest& request) override;
  std::uint32_t available() const override;
  // After a failed memory access the transport may retire requests again, in any order.
  void retire(std::uint32_t index) override {
    if (index + 1 - retired_ <= config_.slots) retired_ = index + 1;
  }

 private:
  // Reads the producer index; false if it is impossible.
  bool look() const;
  void copy(std::uint32_t index, std::byte* to) const;

  ReceiveRingConfig config_;
  mutable bool lied_ = false;
  mutable std::uint32_t producer_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t retired_ = 0;
  std::unique_ptr<std::byte[]> copies_;
};

}  // namespace urnic::engine::mlx5
