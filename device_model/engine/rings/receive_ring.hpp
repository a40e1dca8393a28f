// The receive queue of urnic's own face (abi/queues.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/rings/posted_receives.hpp"
#include "device_model/engine/rings/slot_copies.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class ReceiveRing final : public PostedReceives {
 public:
  // As SendRing.
  ReceiveRing(const std::byte* ring, std::uint32_t slots, std::uint32_t slot_size,
              const std::atomic<std::uint32_t>* producer);

  void reset() override;
  bool lied() const override { return lied_; }
  QueuedReceives queued() const override;

  bool next(transport::ReceiveRequest& request) override;
  std::uint32_t available() const override;
  // After a failed memory access the transport may retire requests again, in any order.
  void retire(std::uint32_t index) override {
    if (index + 1 - retired_ <= slots_) retired_ = index + 1;
  }

 private:
  // Reads the producer index; false if it is impossible.
  bool look() const;

  const std::byte* ring_;
  const std::atomic<std::uint32_t>* shared_producer_;
  std::uint32_t slots_;
  std::uint32_t slot_size_;
  mutable bool lied_ = false;
  mutable std::uint32_t producer_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t retired_ = 0;
  SlotCopies copies_;
};

}  // namespace urnic::engine
