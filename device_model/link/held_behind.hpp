// Packets that a link reorders: each is held until a given number of later packets have passed, or until its
// latest time.
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
class HeldBehind {
 public:
  struct Released {
    Item item;
    transport::Time due;
  };

  // At most `capacity` items; allocates here and never again.
  explicit HeldBehind(std::size_t capacity) { held_.reserve(capacity); }

  bool empty() const { return held_.empty(); }
  std::size_t size() const { return held_.size(); }

  // Holds `item` until `behind` more packets have passed, or until `latest`; in either case until `due` at
  // least. There must be room.
  void hold(Item item, std::uint32_t behind, transport::Time due, transport::Time latest) {
    held_.push_back({due, latest, behind, std::move(item)});
  }

  // When the next packet is released if no packet passes.
  std::optional<transport::Time> earliest() const {
    std::optional<transport::Time> earliest;
    for (const Held& held : held_)
      if (!earliest || held.latest < *earliest) earliest = held.latest;
    return earliest;
  }

  // A packet that arrives at `due` has passed the held ones. Calls `release` with each packet that waited for
  // this one; it arrives after this one, or at its latest time if that is earlier.
  template <class Release>
  void passed(transport::Time due, Release release) {
    take_if([](Held& held) { return --held.behind == 0; },
            [&](Held& held) {
              release(Released{std::move(held.item), std::clamp(due, held.due, held.latest)});
            });
  }

  // Calls `release` with each packet whose latest time is `now` or before.
  template <class Release>
  void expire(transport::Time now, Release release) {
    take_if([now](const Held& held) { return held.latest <= now; },
            [&](Held& held) {
              release(Released{std::move(held.item), held.latest});
            });
  }

 private:
  struct Held {
    transport::Time due;
    transport::Time latest;
    std::uint32_t behind;
    Item item;
  };

  template <class Condition, class Take>
  void take_if(Condition condition, Take take) {
    for (std::size_t i = 0; i < held_.size();) {
      if (!condition(held_[i])) {
        ++i;
        continue;
      }
      Held held = std::move(held_[i]);
      held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
      take(held);
    }
  }

  std::vector<Held> held_;
};

}  // namespace urnic::link
