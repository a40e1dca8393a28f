// The device's end of a send queue in shared memory: takes each posted WQE once, copies it out, checks it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device_model/abi/queues.hpp"
#include "device_model/engine/rings/slot_copies.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class SendRing final : public transport::SendQueue {
 public:
  // `ring` holds `slots` (a power of two, or 0) slots of `slot_size` bytes; it and `producer` outlive this.
  SendRing(const std::byte* ring, std::uint32_t slots, std::uint32_t slot_size,
           const std::atomic<std::uint32_t>* producer, bool signal_all);

  // Looks at the producer index, which is believed until the next look.
  void doorbell();
  // Back to index 0 (QP to reset).
  void reset();
  // The producer index claims more WQEs than the ring holds. Nothing is given out until `reset`.
  bool lied() const { return lied_; }

  // Has the processor bring the next WQE into its cache, without waiting for it.
  void prefetch_next() const {
    if (slots_ == 0) return;
    const std::byte* const slot = ring_ + std::size_t{taken_ & (slots_ - 1)} * slot_size_;
    __builtin_prefetch(slot);
    __builtin_prefetch(slot + sizeof(abi::SendWqe));
  }

  bool next(transport::SendRequest& request) override;
  bool pending() const override { return taken_ != producer_ && !lied_; }
  // After a failed memory access requests may be retired a second time, earlier ones behind later ones.
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
  std::uint32_t retired_ = 0;  // all before are done with: their copies may be overwritten
  SlotCopies copies_;
};

}  // namespace urnic::engine
