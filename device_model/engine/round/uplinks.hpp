// All uplinks of an engine's devices as one: delivers frames from any of them, and knows when the next is
// due.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "device_model/link/uplink.hpp"

namespace urnic::engine {

class Uplinks {
 public:
  // Outlives this.
  void add(link::Uplink& uplink) { all_.push_back(&uplink); }
  bool empty() const { return all_.empty(); }

  // As in link::Uplink. Each uplink may deliver what is left of `most`; they take turns in being first, so
  // that none starves.
  link::Load deliver_due(transport::Time now, const link::Load& most) {
    link::Load delivered;
    for (std::size_t i = 0; i < all_.size() && delivered.frames < most.frames; ++i) {
      const link::Load left{most.frames - delivered.frames,
                            most.bytes - std::min(most.bytes, delivered.bytes)};
      const link::Load taken = all_[(first_ + i) % all_.size()]->deliver_due(now, left);
      delivered.frames += taken.frames;
      delivered.bytes += taken.bytes;
    }
    if (all_.size() > 1) first_ = (first_ + 1) % all_.size();
    return delivered;
  }
  void release() {
    for (link::Uplink* uplink : all_) uplink->release();
  }
  void woken() {
    for (link::Uplink* uplink : all_) uplink->woken();
  }
  void flush() {
    for (link::Uplink* uplink : all_) uplink->flush();
  }
  bool owes_release() const {
    for (const link::Uplink* uplink : all_)
      if (uplink->owes_release()) return true;
    return false;
  }
  bool overdue(transport::Time now) const {
    for (const link::Uplink* uplink : all_)
      if (uplink->overdue(now)) return true;
    return false;
  }
  bool takes_time() const {
    for (const link::Uplink* uplink : all_)
      if (uplink->takes_time()) return true;
    return false;
  }
  std::optional<transport::Time> next_due() const {
    std::optional<transport::Time> earliest;
    for (const link::Uplink* uplink : all_) {
      const auto due = uplink->next_due();
      if (due && (!earliest || *due < *earliest)) earliest = due;
    }
    return earliest;
  }
  std::uint32_t count() const {
    std::uint32_t frames = 0;
    for (const link::Uplink* uplink : all_) frames += uplink->count();
    return frames;
  }

 private:
  std::vector<link::Uplink*> all_;
  std::size_t first_ = 0;
};

}  // namespace urnic::engine
