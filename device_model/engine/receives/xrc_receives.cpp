#include "device_model/engine/receives/xrc_receives.hpp"

namespace urnic::engine {

void XrcReceives::describe(transport::QpConfig& config) {
  config.receive_slots = kMost;
  config.receive_queue = config.xrc_receives = this;
  config.shared_receive_queue = true;
}

void XrcReceives::give_back() {
  for (; completed_ != taken_; ++completed_) {
    const Place from = place(completed_);
    if (from.queue != nullptr) from.queue->give_back(from.slot);
  }
  taken_ = completed_ = 0;
}

// The message goes to the SRQ's program, whichever program created the QP.
std::uint32_t XrcReceives::inline_room() const {
  if (selected_ == nullptr) return 0;
  return inline_room_of(selected_->config().cq, selected_->config().several_processes);
}

bool XrcReceives::forget(const SharedReceiveQueue& queue) {
  if (selected_ == &queue) selected_ = nullptr;
  bool held = false;
  for (std::uint32_t index = completed_; index != taken_; ++index) {
    if (place(index).queue != &queue) continue;
    place(index).queue = nullptr;
    held = true;
  }
  return held;
}

// Treats a broken queue as missing, because the domain's other queues go on.
std::optional<transport::PdId> XrcReceives::select(std::uint32_t number) {
  if (selected_ == nullptr || selected_->number() != number) selected_ = domain_.find(number);
  if (selected_ == nullptr || selected_->broken()) return std::nullopt;
  return selected_->config().pd;
}

bool XrcReceives::next(transport::ReceiveRequest& request) {
  if (selected_ == nullptr || taken_ - completed_ == kMost) return false;
  Place& to = place(taken_);
  if (!selected_->take(request, to.slot)) return false;
  to.queue = selected_;
  request.index = taken_++;
  return true;
}

Reported XrcReceives::report(const transport::Completion& completion, bool /*in_error*/) {
  const Place from = place(completion.wqe_index);
  completed_ = completion.wqe_index + 1;
  if (from.queue == nullptr) return Reported::yes;
  from.queue->release(from.slot);
  transport::Completion of_slot = completion;
  of_slot.wqe_index = from.slot;
  const bool room = notifications_.complete(*from.queue->config().cq, of_slot, from.queue->number());
  return room ? Reported::yes : Reported::lost;
}

}  // namespace urnic::engine
