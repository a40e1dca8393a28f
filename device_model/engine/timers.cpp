#include "device_model/engine/timers.hpp"

#include "device_model/engine/queue_pair_context.hpp"

namespace urnic::engine {

void Timers::update(QueuePairContext& queue_pair, std::optional<transport::Time> deadline) {
  if (!deadline) return;
  const std::size_t at = queue_pair.timer_position.at;
  const Entry entry{*deadline, &queue_pair};
  if (at == TimerPosition::kNone) {
    heap_.emplace_back();
    sift_up(heap_.size() - 1, entry);
  } else if (*deadline < heap_[at].time) {
    sift_up(at, entry);
  }
}

void Timers::remove(QueuePairContext& queue_pair) {
  if (queue_pair.timer_position.at != TimerPosition::kNone) erase(queue_pair.timer_position.at);
}

std::optional<transport::Time> Timers::earliest() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().time;
}

QueuePairContext* Timers::take_due(transport::Time now) {
  if (heap_.empty() || heap_.front().time > now) return nullptr;
  QueuePairContext* const due = heap_.front().queue_pair;
  erase(0);
  return due;
}

void Timers::place(std::size_t at, const Entry& entry) {
  heap_[at] = entry;
  entry.queue_pair->timer_position.at = at;
}

void Timers::sift_up(std::size_t at, const Entry& entry) {
  for (; at > 0; at = (at - 1) / 2) {
    const Entry& parent = heap_[(at - 1) / 2];
    if (parent.time <= entry.time) break;
    place(at, parent);
  }
  place(at, entry);
}

void Timers::sift_down(std::size_t at, const Entry& entry) {
  for (;;) {
    std::size_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].time < heap_[child].time) ++child;
    if (entry.time <= heap_[child].time) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, entry);
}

void Timers::erase(std::size_t at) {
  heap_[at].queue_pair->timer_position.at = TimerPosition::kNone;
  const Entry moved = heap_.back();
  heap_.pop_back();
  if (at == heap_.size()) return;
  if (at > 0 && moved.time < heap_[(at - 1) / 2].time) {
    sift_up(at, moved);
  } else {
    sift_down(at, moved);
  }
}

}  // namespace urnic::engine
