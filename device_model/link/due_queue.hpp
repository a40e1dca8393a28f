// Packets under way: each leaves when it is due, in the order of their times, and in the order in which they
// came where times are equal. Some are held until a number of later packets have passed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "device_model/transport/time.hpp"

namespace urnic::link {

template <class Item>
class DueQueue {
 public:
  // At most `capacity` items; allocates here and never again.
  explicit DueQueue(std::size_t capacity) : capacity_(capacity) {
    due_.reserve(capacity);
    held_.reserve(capacity);
  }

  bool empty() const { return due_.empty() && held_.empty(); }
  std::size_t size() const { return due_.size() + held_.size(); }
  bool full() const { return size() == capacity_; }

  // Must not be full.
  void push(Item item, transport::Time due) {
    due_.push_back({due, ++arrivals_, std::move(item)});
    std::push_heap(due_.begin(), due_.end(), later);
  }
  // Not before `due`, and either when `behind` more packets have `passed` or at `latest`. Must not be full.
  void hold(Item item, std::uint32_t behind, transport::Time due, transport::Time latest) {
    held_.push_back({due, latest, behind, std::move(item)});
  }
  // A packet has entered behind those that are here, and arrives at `due`: who was held for it follows it. To
  // be called after that packet's own push, if it has one.
  void passed(transport::Time due) {
    for (std::size_t i = 0; i < held_.size();) {
      if (--held_[i].behind == 0) {
        release(i, std::max(due, held_[i].due));
      } else {
        ++i;
      }
    }
  }

  // When the next one leaves if nothing else passes.
  std::optional<transport::Time> earliest() const {
    std::optional<transport::Time> earliest;
    if (!due_.empty()) earliest = due_.front().time;
    for (const Held& held : held_)
      if (!earliest || held.latest < *earliest) earliest = held.latest;
    return earliest;
  }

  struct Departure {
    transport::Time due;
    Item item;
  };
  // Takes the next one that is due at `now`, if any.
  std::optional<Departure> take_due(transport::Time now) {
    for (std::size_t i = 0; i < held_.size();) {
      if (held_[i].latest <= now) {
        release(i, held_[i].latest);
      } else {
        ++i;
      }
    }
    if (due_.empty() || due_.front().time > now) return std::nullopt;
    std::pop_heap(due_.begin(), due_.end(), later);
    Departure departure{due_.back().time, std::move(due_.back().item)};
    due_.pop_back();
    return departure;
  }

 private:
  struct Due {
    transport::Time time;
    std::uint64_t arrival;
    Item item;
  };
  struct Held {
    transport::Time due;
    transport::Time latest;
    std::uint32_t behind;
    Item item;
  };
  static bool later(const Due& a, const Due& b) {
    return a.time != b.time ? a.time > b.time : a.arrival > b.arrival;
  }
  void release(std::size_t at, transport::Time due) {
    Item item = std::move(held_[at].item);
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(at));
    push(std::move(item), due);
  }

  std::size_t capacity_;
  std::uint64_t arrivals_ = 0;
  std::vector<Due> due_;  // a heap
  std::vector<Held> held_;
};

}  // namespace urnic::link
