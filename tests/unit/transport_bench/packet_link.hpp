// One direction of the product's link (device_model/link/link_direction.hpp) that carries packets of any
// type.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "device_model/link/due_queue.hpp"
#include "device_model/link/held_behind.hpp"
#include "device_model/link/link_direction.hpp"

namespace urnic::transport::bench {

template <class Packet>
class PacketLink {
 public:
  // `device`: the number of the sending device; links with equal settings differ by it.
  PacketLink(const link::LinkSettings& settings, std::uint32_t device)
      : device_(device), model_(settings, device, link::Direction::transmit) {}

  // Applies to packets that enter from now on.
  void configure(const link::LinkSettings& settings) {
    model_ = link::LinkDirection(settings, device_, link::Direction::transmit);
  }
  const link::LinkSettings& settings() const { return model_.settings(); }

  // A packet of `bytes` (a whole frame) enters at `now`, which never decreases; `put` follows. `lose`: the
  // packet is lost behind the line, whatever the settings say.
  link::Passage enter(std::uint32_t bytes, Time now, bool lose = false) {
    link::Passage passage = model_.enter(now, bytes, {device_, 1, ++sent_});
    if (lose && passage.drop == link::DropCause::none) passage.drop = link::DropCause::fault;
    if (passage.drop != link::DropCause::none) ++lost_;
    return passage;
  }
  // Puts the packet under way that `enter` has returned `passage` for, unless it is dropped.
  void put(const Packet& packet, const link::Passage& passage) {
    if (passage.drop != link::DropCause::none) return;
    for (std::uint32_t copy = 0; copy < passage.copies; ++copy) {
      const std::uint32_t slot = store(packet);
      if (passage.behind != 0) {
        held_.hold(slot, passage.behind, passage.due, passage.latest);
      } else {
        due_.push(slot, passage.due);
      }
    }
    if (passage.behind == 0)
      held_.passed(passage.due, [this](const auto& held) { due_.push(held.item, held.due); });
  }
  // When the line is free.
  Time free_at() const { return model_.clear_at(); }

  // When the next packet arrives unless others enter before; empty if none is under way.
  std::optional<Time> next_arrival() const {
    const std::optional<Time> due = due_.earliest();
    const std::optional<Time> held = held_.earliest();
    if (due && held) return std::min(*due, *held);
    return due ? due : held;
  }
  // The packet that arrives next; there must be one. Valid until the next `take`.
  const Packet& take() {
    if (taken_) free_.push_back(*taken_);
    const Time now = *next_arrival();
    held_.expire(now, [this](const auto& late) { due_.push(late.item, late.due); });
    taken_ = due_.take_due(now)->item;
    return packets_[*taken_];
  }

  std::uint64_t sent() const { return sent_; }
  std::uint64_t lost() const { return lost_; }

 private:
  static constexpr std::size_t kMostUnderWay = 1 << 16;

  std::uint32_t store(const Packet& packet) {
    if (free_.empty()) {
      packets_.push_back(packet);
      return static_cast<std::uint32_t>(packets_.size() - 1);
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    packets_[slot] = packet;
    return slot;
  }

  std::uint32_t device_;
  link::LinkDirection model_;
  std::deque<Packet> packets_;  // slots that stay in place
  std::vector<std::uint32_t> free_;
  std::optional<std::uint32_t> taken_;
  link::DueQueue<std::uint32_t> due_{kMostUnderWay};
  link::HeldBehind<std::uint32_t> held_{kMostUnderWay};
  std::uint64_t sent_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace urnic::transport::bench
