#include "device_model/engine/completion/notifications.hpp"

namespace urnic::engine {

bool Notifications::complete_tagged(CompletionQueue& queue, const transport::Completion& completion,
                                    std::uint32_t shared_receive_queue, std::uint8_t flags,
                                    const abi::TagInfo& info) {
  const bool first = !queue.notification_owed();
  return added(queue, first, queue.push_tagged(completion, shared_receive_queue, flags, info));
}

void Notifications::recheck(CompletionQueue& queue, transport::Time now) {
  if (queue.notification_owed() || !queue.catch_up()) return;
  to_notify_.push_back(&queue);
  raise(now);
}

bool Notifications::overrun(CompletionQueue& queue) {
  if (queue.async_pipe() != nullptr) wrote_to(*queue.async_pipe());
  return false;
}

void Notifications::raise(transport::Time now) {
  for (CompletionQueue* queue : to_notify_) {
    queue->notify(now);
    if (queue->event_due() && !queue->is_linked()) moderated_.push_back(*queue);
    if (queue->channel() != nullptr) wrote_to(*queue->channel());
  }
  to_notify_.clear();
}

// A CQ that has raised its event meanwhile is still in the list.
void Notifications::raise_moderated(transport::Time now) {
  for (auto each = moderated_.begin(); each != moderated_.end();) {
    CompletionQueue& queue = *each++;
    if (queue.event_due() && *queue.event_due() > now) continue;
    queue.unlink();
    if (!queue.event_due()) continue;
    queue.notify_late();
    if (queue.channel() != nullptr) wrote_to(*queue.channel());
  }
}

void Notifications::retry_backlog() {
  for (auto pipe = backlog_.begin(); pipe != backlog_.end();) {
    EventPipe& current = *pipe++;
    if (current.flush()) current.unlink();
  }
}

std::optional<transport::Time> Notifications::next_due() const {
  std::optional<transport::Time> earliest;
  for (const CompletionQueue& queue : moderated_) {
    const auto due = queue.event_due();
    if (due && (!earliest || *due < *earliest)) earliest = due;
  }
  return earliest;
}

}  // namespace urnic::engine
