#include "device_model/engine/round/timers.hpp"

#include <algorithm>

namespace urnic::engine {

TimerId Timers::add(QueuePairContext& queue_pair) {
  std::uint32_t timer;
  if (!free_.empty()) {
    timer = free_.back();
    free_.pop_back();
  } else {
    timer = static_cast<std::uint32_t>(timers_.size());
    if (timers_.size() == timers_.capacity()) timers_.reserve(std::max<std::size_t>(64, 2 * timers_.size()));
    heap_.reserve(timers_.capacity());
    free_.reserve(timers_.capacity());
    timers_.emplace_back();
  }
  timers_[timer] = {.queue_pair = &queue_pair};
  return TimerId{timer};
}

void Timers::remove(TimerId timer) {
  Timer& removed = timers_[static_cast<std::uint32_t>(timer)];
  if (removed.at != kNotInHeap) erase(removed.at);
  removed = {};
  free_.push_back(static_cast<std::uint32_t>(timer));
}

void Timers::set(TimerId timer, std::optional<transport::Time> deadline) {
  Timer& changed = timers_[static_cast<std::uint32_t>(timer)];
  changed.deadline = deadline.value_or(kNever);
  if (!deadline) return;
  const Entry entry{*deadline, static_cast<std::uint32_t>(timer)};
  if (changed.at == kNotInHeap) {
    heap_.emplace_back();
    sift_up(static_cast<std::uint32_t>(heap_.size() - 1), entry);
  } else if (*deadline < heap_[changed.at].time) {
    sift_up(changed.at, entry);
  }
}

std::optional<transport::Time> Timers::earliest() const {
  if (heap_.empty()) return std::nullopt;
  return heap_.front().time;
}

std::uint32_t Timers::armed() const {
  return static_cast<std::uint32_t>(std::count_if(
      timers_.begin(), timers_.end(), [](const Timer& timer) { return timer.deadline != kNever; }));
}

QueuePairContext* Timers::take_due(transport::Time now) {
  while (!heap_.empty() && heap_.front().time <= now) {
    const std::uint32_t first = heap_.front().timer;
    Timer& timer = timers_[first];
    if (timer.deadline > now && timer.deadline != kNever) {
      sift_down(0, {timer.deadline, first});
      continue;
    }
    erase(0);
    if (timer.deadline == kNever) continue;
    timer.deadline = kNever;
    return timer.queue_pair;
  }
  return nullptr;
}

void Timers::place(std::uint32_t at, const Entry& entry) {
  heap_[at] = entry;
  timers_[entry.timer].at = at;
}

void Timers::sift_up(std::uint32_t at, const Entry& entry) {
  for (; at > 0; at = (at - 1) / 2) {
    const Entry& parent = heap_[(at - 1) / 2];
    if (parent.time <= entry.time) break;
    place(at, parent);
  }
  place(at, entry);
}

void Timers::sift_down(std::uint32_t at, const Entry& entry) {
  for (;;) {
    std::uint32_t child = 2 * at + 1;
    if (child >= heap_.size()) break;
    if (child + 1 < heap_.size() && heap_[child + 1].time < heap_[child].time) ++child;
    if (entry.time <= heap_[child].time) break;
    place(at, heap_[child]);
    at = child;
  }
  place(at, entry);
}

void Timers::erase(std::uint32_t at) {
  timers_[heap_[at].timer].at = kNotInHeap;
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
