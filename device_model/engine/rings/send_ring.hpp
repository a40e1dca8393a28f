// The send queue of urnic's own face (abi/queues.hpp): reads each posted WQE once, copies it, checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/rings/posted_sends.hpp"
#include "device_model/engine/rings/slot_copies.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class SendRing final : public PostedSends {
 public:
  // `ring` holds `slots` (a power of two, or 0) slots of `slot_size` bytes; it and `producer` outlive this.
  SendRing(const std::byte* ring, std::uint32_t slots, std::uint32_t slot_size,
           const std::atomic<std::uint32_t>* producer, bool signal_all);

  void doorbell() override;
  void reset() override;
  bool lied() const override { return lied_; }
  void prefetch_next() const override {
    if (slots_ == 0) return;
    const std::byte* const slot = ring_ + std::size_t{taken_ & (slots_ - 1)} * slot_size_;
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + sizeof(abi::SendWqe));
  }

  QueuedSends queued() const override;

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
