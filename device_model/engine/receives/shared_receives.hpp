// The receives of a QP on a shared receive queue.
#pragma once

#include "device_model/engine/completion/notifications.hpp"
#include "device_model/engine/receives/receives.hpp"
#include "device_model/engine/receives/shared_receive_view.hpp"

namespace urnic::engine {

class SharedReceives final : public Receives {
 public:
  // All arguments outlive this.
  SharedReceives(SharedReceiveQueue& queue, CompletionQueue& completions, const bool* several_processes,
                 Notifications& notifications)
      : view_(queue),
        completions_(completions),
        several_processes_(several_processes),
        notifications_(notifications) {}

  void describe(transport::QpConfig& config) override {
    config.receive_slots = SharedReceiveView::kMost;
    config.receive_queue = &view_;
    config.shared_receive_queue = true;
  }
  void reset() override { view_.reset(); }
  bool broken() const override { return view_.broken(); }
  std::uint32_t inline_room() const override { return inline_room_of(&completions_, several_processes_); }
  Reported report(const transport::Completion& completion, bool /*in_error*/) override {
    transport::Completion of_slot = completion;
    of_slot.wqe_index = view_.complete(completion.wqe_index);
    const bool room = notifications_.complete(completions_, of_slot, view_.number());
    return room ? Reported::yes : Reported::lost;
  }

 private:
  SharedReceiveView view_;
  CompletionQueue& completions_;
  const bool* several_processes_;
  Notifications& notifications_;
};

}  // namespace urnic::engine
