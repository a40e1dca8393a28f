// Completions and events on their way to programs: writes CQEs, raises the events that they owe, and keeps
// events that moderation or a full pipe delays.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/engine/completion/completion_queue.hpp"
#include "device_model/engine/completion/event_pipe.hpp"
#include "device_model/transport/time.hpp"
#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// Engine thread only. CQs and pipes unlink themselves when destroyed; the engine settles first.
class Notifications {
 public:
  Notifications() { to_notify_.reserve(256); }

  // As CompletionQueue::push; the next `raise` raises the event that is owed. False: CQ overrun.
  [[gnu::always_inline]] bool complete(CompletionQueue& queue, const transport::Completion& completion,
                                       std::uint32_t shared_receive_queue = 0) {
    const bool first = !queue.notification_owed();
    return added(queue, first, queue.push(completion, shared_receive_queue));
  }
  // As `complete`, with CompletionQueue::push_tagged.
  bool complete_tagged(CompletionQueue& queue, const transport::Completion& completion,
                       std::uint32_t shared_receive_queue, std::uint8_t flags, const abi::TagInfo& info);

  // The program may have asked for an event when CQEs that it had not read were there: raises it.
  void recheck(CompletionQueue& queue, transport::Time now);

  // Records were written to a pipe that may have been full.
  void wrote_to(EventPipe& pipe) {
    if (pipe.has_backlog() && !pipe.is_linked()) backlog_.push_back(pipe);
  }

  // Raises the events of all queues with new CQEs, unless the queue's moderation puts its event off.
  void raise(transport::Time now);
  // Raises the delayed events that are due, and retries full pipes.
  void raise_late(transport::Time now) {
    if (!backlog_.empty()) retry_backlog();
    if (!moderated_.empty()) raise_moderated(now);
  }
  // When the first event that moderation delays is due; empty if none is delayed.
  std::optional<transport::Time> next_due() const;

  // Event records that did not fit into their pipe.
  bool has_backlog() const { return !backlog_.empty(); }
  // CQs and pipes with delayed events.
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
  CompletionQueueList moderated_;  // CQs whose event is delayed
  EventPipeList backlog_;
};

}  // namespace urnic::engine
