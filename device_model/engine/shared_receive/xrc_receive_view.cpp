#include "device_model/engine/shared_receive/xrc_receive_view.hpp"

namespace urnic::engine {

void XrcReceiveView::reset() {
  for (; completed_ != taken_; ++completed_) {
    const Place from = place(completed_);
    if (from.queue != nullptr) from.queue->give_back(from.slot);
  }
  taken_ = completed_ = 0;
}

bool XrcReceiveView::forget(const SharedReceiveQueue& queue) {
  if (selected_ == &queue) selected_ = nullptr;
  bool held = false;
  for (std::uint32_t index = completed_; index != taken_; ++index) {
    if (place(index).queue != &queue) continue;
    place(index).queue = nullptr;
    held = true;
  }
  return held;
}

// A queue that its program has broken is as good as none, for the other queues of the domain go on.
std::optional<transport::PdId> XrcReceiveView::select(std::uint32_t number) {
  if (selected_ == nullptr || selected_->number() != number) selected_ = domain_.find(number);
  if (selected_ == nullptr || selected_->broken()) return std::nullopt;
  return selected_->config().pd;
}

bool XrcReceiveView::next(transport::ReceiveRequest& request) {
  if (selected_ == nullptr || taken_ - completed_ == kMost) return false;
  Place& to = place(taken_);
  if (!selected_->take(request, to.slot)) return false;
  to.queue = selected_;
  request.index = taken_++;
  return true;
}

XrcReceiveView::Place XrcReceiveView::complete(std::uint32_t index) {
  const Place from = place(index);
  if (from.queue != nullptr) from.queue->release(from.slot);
  completed_ = index + 1;
  return from;
}

}  // namespace urnic::engine
