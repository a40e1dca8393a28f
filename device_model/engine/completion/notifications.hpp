// Completions and events on their way to programs: writes CQEs, raises the events that they owe, and keeps
// what a moderated CQ or a full pipe puts off.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/transport/time.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// Engine thread only. Queues and pipes unlink themselves when they go; the engine settles before.
class Notifications {
 public:
  Notifications() { to_notify_.reserve(256); }

  // CompletionQueue::push, and the event that is owed for it at the next `raise`. False: the CQ has overrun.
  [[gnu::always_inline]] bool complete(CompletionQueue& queue, const transport::Completion& completion,
                                       std::uint32_t shared_receive_queue = 0) {
    const bool first = !queue.notification_owed();
    return added(queue, first, queue.push(completion, shared_receive_queue));
  }
  // The same with CompletionQueue::push_tagged.
  bool complete_tagged(CompletionQueue& queue, const transport::Completion& completion,
                       std::uint32_t shared_receive_queue, std::uint8_t flags, const abi::TagInfo& info);

  // Something was written to a pipe that may not have taken it.
  void wrote_to(EventPipe& pipe) {
    if (pipe.has_backlog() && !pipe.is_linked()) backlog_.push_back(pipe);
  }

  // Raises the events of all queues with new CQEs, unless the queue's moderation puts its event off.
  void raise(transport::Time now);
  // Raises the events that are due by now, and writes what pipes have room for again.
  void raise_late(transport::Time now) {
    if (!backlog_.empty()) retry_backlog();
    if (!moderated_.empty()) raise_moderated(now);
  }
  // When the first event that moderation put off is due; empty: none was put off.
  std::optional<transport::Time> next_due() const;

  // Event records that their pipe did not take yet.
  bool has_backlog() const { return !backlog_.empty(); }
  // Queues and pipes with something put off.
  std::uint32_t count() const { return static_cast<std::uint32_t>(moderated_.size() + backlog_.size()); }

 private:
  bool added(CompletionQueue& queue, bool first_in_batch, bool there_was_room) {
    if (!there_was_room) [[unlikely]]
      return overrun(queue);
    if (first_in_batch) to_notify_.push_back(&queue);
    return true;
  }
  [[gnu::cold]] bool overrun(CompletionQueue& queue);
  void raise_moderated(transport::Time now);
  void retry_backlog();

  std::vector<CompletionQueue*> to_notify_;
  CompletionQueueList moderated_;  // those whose event is put off
  EventPipeList backlog_;
};

}  // namespace urnic::engine
