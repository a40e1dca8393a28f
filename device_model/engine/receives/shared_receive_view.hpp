// A shared receive queue as one of its QPs sees it: the WQEs that it has taken, counted as its own, and the
// slots that they were in.
#pragma once

#include <array>
#include <cstdint>

#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

class SharedReceiveView final : public transport::ReceiveQueue {
 public:
  // Requests taken and not completed at most: as many as one batch can execute, when a hole fills before a
  // whole window of messages and a round's packets follow. A QP with more has to wait.
  static constexpr std::uint32_t kMost = 2048;

  // `queue` outlives this.
  explicit SharedReceiveView(SharedReceiveQueue& queue) : queue_(queue) {}
  ~SharedReceiveView() { reset(); }
  SharedReceiveView(const SharedReceiveView&) = delete;
  SharedReceiveView& operator=(const SharedReceiveView&) = delete;

  // Gives back WQEs that are not completed, and counts from 0 again.
  void reset() {
    for (; completed_ != taken_; ++completed_) queue_.give_back(slot(completed_));
    taken_ = completed_ = 0;
  }
  bool broken() const { return queue_.broken(); }
  std::uint32_t number() const { return queue_.number(); }
  transport::PdId pd() const { return queue_.pd(); }

  bool next(transport::ReceiveRequest& request) override {
    if (taken_ - completed_ == kMost || !queue_.take(request, slot(taken_))) return false;
    request.index = taken_++;
    return true;
  }
  // Unknown: all QPs share the WQEs.
  std::uint32_t available() const override { return 0; }
  // Not used: the transport may call this again after a failed access, so `complete` counts instead.
  void retire(std::uint32_t) override {}

  // The completion of request `index`, and of all before it, is being written. Returns the request's slot.
  std::uint32_t complete(std::uint32_t index) {
    queue_.release(slot(index));
    completed_ = index + 1;
    return slot(index);
  }

 private:
  std::uint32_t& slot(std::uint32_t index) { return slots_[index % kMost]; }

  SharedReceiveQueue& queue_;
  std::uint32_t taken_ = 0;
  std::uint32_t completed_ = 0;
  std::array<std::uint32_t, kMost> slots_;
};

}  // namespace urnic::engine
