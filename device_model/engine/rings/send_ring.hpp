// The device's end of a send queue in shared memory: reads each posted WQE once, copies it, checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/rings/queued_work.hpp"
#include "device_model/engine/rings/slot_copies.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class SendRing final : public transport::SendQueue {
 public:
  // `ring` holds `slots` (a power of two, or 0) slots of `slot_size` bytes; it and `producer` outlive this.
  SendRing(const std::byte* ring, std::uint32_t slots, std::uint32_t slot_size,
           const std::atomic<std::uint32_t>* producer, bool signal_all);

  // Reads the producer index, which is trusted until the next read.
  void doorbell();
  // Back to index 0 (QP to reset).
  void reset();
  // The producer index claims more WQEs than the ring holds. No WQE is taken until `reset`.
  bool lied() const { return lied_; }

  // Prefetches the next WQE.
  void prefetch_next() const {
    if (slots_ == 0) return;
    const std::byte* const slot = ring_ + std::size_t{taken_ & (slots_ - 1)} * slot_size_;
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + sizeof(abi::SendWqe));
  }

  // What it holds now, for a person. Allocates.
  QueuedSends queued() const;

  bool next(transport::SendRequest& request) override;
  bool pending() const override { return taken_ != producer_ && !lied_; }
  // After a failed memory access the transport may retire requests again, in any order.
  void retire(std::uint32_t index) override {
    if (index + 1 - retired_ <= slots_) retired_ = index + 1;
  }

 private:
  const std::byte* ring_;
  const std::atomic<std::uint32_t>* shared_producer_;
  std::uint32_t slots_;
  std::uint32_t slot_size_;
  bool signal_all_;
  bool lied_ = false;
  std::uint32_t producer_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t retired_ = 0;  // all before are complete: their copies may be overwritten
  SlotCopies copies_;
};

}  // namespace urnic::engine
