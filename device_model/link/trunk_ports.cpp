#include "device_model/link/trunk_ports.hpp"

#include <utility>

#include "device_model/link/switch.hpp"
#include "device_model/link/trunk.hpp"

namespace urnic::link {

void TrunkPorts::add_outgoing(Trunk& trunk, std::function<void()> wake) {
  outgoing_.push_back({&trunk, std::move(wake)});
}

void TrunkPorts::add_incoming(Trunk& trunk) { incoming_.push_back(&trunk); }

void TrunkPorts::reclaim() {
  for (const Outgoing& outgoing : outgoing_) outgoing.trunk->reclaim();
}

bool TrunkPorts::take(transport::Time now, std::uint32_t most_frames, std::size_t most_bytes) {
  if (!here_.lan_has_room(now)) return false;
  std::uint32_t frames = 0;
  std::size_t bytes = 0;
  if (++first_ >= incoming_.size()) first_ = 0;
  for (std::size_t i = 0; i < incoming_.size(); ++i) {
    Trunk& trunk = *incoming_[(first_ + i) % incoming_.size()];
    while (frames < most_frames && bytes < most_bytes) {
      const Trunk::Passenger* const passenger = trunk.take();
      if (passenger == nullptr) break;
      ++frames;
      bytes += passenger->frame.size();
      here_.arrive_by_trunk(*passenger, now);
    }
  }
  return frames != 0;
}

void TrunkPorts::release() {
  for (Trunk* trunk : incoming_) trunk->release();
}

void TrunkPorts::publish() {
  for (const Outgoing& outgoing : outgoing_) {
    if (outgoing.trunk->publish()) outgoing.wake();
  }
  for (Trunk* trunk : incoming_) trunk->settle();
}

std::uint32_t TrunkPorts::frames_lent() const {
  std::uint32_t frames = 0;
  for (const Outgoing& outgoing : outgoing_) frames += outgoing.trunk->unsettled();
  return frames;
}

std::optional<transport::Time> TrunkPorts::oldest_under_way() const {
  std::optional<transport::Time> oldest;
  const auto consider = [&](std::optional<transport::Time> time) {
    if (time && (!oldest || *time < *oldest)) oldest = time;
  };
  for (const Outgoing& outgoing : outgoing_) consider(outgoing.trunk->oldest_unsettled());
  for (const Trunk* trunk : incoming_) consider(trunk->oldest_untaken());
  return oldest;
}

}  // namespace urnic::link
