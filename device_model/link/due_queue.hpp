// Packets under way: each leaves when it is due. Packets with equal times leave in the order in which they
// were added.
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
  explicit DueQueue(std::size_t capacity) { due_.reserve(capacity); }

  bool empty() const { return due_.empty(); }
  std::size_t size() const { return due_.size(); }

  // There must be room.
  void push(Item item, transport::Time due) {
    due_.push_back({due, ++arrivals_, std::move(item)});
    std::push_heap(due_.begin(), due_.end(), later);
  }

  // When the next item leaves.
  std::optional<transport::Time> earliest() const {
    if (due_.empty()) return std::nullopt;
    return due_.front().time;
  }

  struct Departure {
    transport::Time due;
    Item item;
  };
  // Takes the next item that is due at `now`, if any.
  std::optional<Departure> take_due(transport::Time now) {
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
  static bool later(const Due& a, const Due& b) {
    return a.time != b.time ? a.time > b.time : a.arrival > b.arrival;
  }

  std::uint64_t arrivals_ = 0;
  std::vector<Due> due_;  // a heap
};

}  // namespace urnic::link
