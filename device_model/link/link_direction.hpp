// One direction of a link, without frames, clock or thread: given a packet and the time at which it enters,
// returns what happens to it. Users (link_channel.hpp for frames) keep the packets that are under way in a
// DueQueue.
#pragma once

#include <cstdint>

#include "device_model/link/back_pressure.hpp"
#include "device_model/link/burst_model.hpp"
#include "device_model/link/egress_queue.hpp"
#include "device_model/link/link_settings.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/pause.hpp"
#include "device_model/link/random_early_marking.hpp"
#include "device_model/link/random_impairments.hpp"
#include "device_model/link/shared_buffer.hpp"

namespace urnic::link {

enum class DropCause : std::uint8_t {
  none,
  loss,                // random, packet by packet
  burst,               // a burst of losses
  queue_full,          // the line's queue
  cut,                 // the link is down
  fault,               // a rule of the fault plan
  buffer_full,         // no room to keep another packet under way
  shared_buffer_full,  // the switch's memory has no more for this queue
};
inline constexpr std::size_t kDropCauses = 8;

// What happens to a packet that enters.
struct Passage {
  DropCause drop = DropCause::none;
  // Valid if the packet is not dropped. All copies arrive at `due`; `corrupted` and `congestion` hold for all
  // copies.
  std::uint32_t copies = 1;
  transport::Time due{};
  transport::Nanoseconds jitter{0};  // the random part of the delay
  // Held until this many later packets have passed, but not beyond `latest`; 0: not held.
  std::uint32_t behind = 0;
  transport::Time latest{};
  bool corrupted = false;
  std::uint64_t corruption = 0;  // random bits that choose the bit to invert
  bool congestion = false;       // mark "congestion experienced" if the packet is ECN-capable

  // Anything but: arrives once, unchanged.
  bool is_touched() const {
    return copies != 1 || behind != 0 || corrupted || congestion || jitter.count() > 0;
  }
};

class LinkDirection {
 public:
  // `device`: the number of the link's device. Allocates here and never again.
  LinkDirection(const LinkSettings& settings, std::uint32_t device, Direction direction);

  // A packet of `bytes` (a whole frame, without what EgressQueue adds) enters at `now`, which never
  // decreases. `feeder`: of the device that sent it, if that can be paused.
  Passage enter(transport::Time now, std::uint32_t bytes, const PacketIdentity& packet,
                Pause* feeder = nullptr);

  // All that `enter` can do is to lose the packet, if that: `loses` alone is faster.
  bool only_loses() const { return only_loses_; }
  bool loses(const PacketIdentity& packet) { return random_.loses(packet); }

  // How many bytes a device may send at `now` with at most `ahead` of them waiting for the line. Without a
  // rate, unlimited; with a rate, at least `least` bytes whenever the line is idle.
  std::size_t room(transport::Time now, transport::Nanoseconds ahead, std::size_t least) const;
  // When there is room for half of `ahead`, or for `least` bytes if that is more, unless other packets enter.
  transport::Time room_at(transport::Nanoseconds ahead, std::size_t least) const;
  // When the line is idle, unless other packets enter.
  transport::Time clear_at() const { return egress_queue_.clear_at(); }

  // The queue, if there is one, is in this memory, with others. It outlives its use.
  void use(const SharedBuffer& buffer) { buffer_ = &buffer; }
  EgressQueue& queue() { return egress_queue_; }
  const BackPressure& back_pressure() const { return back_pressure_; }
  // Nothing leaves during these pauses, if its settings have `pfc`. It outlives its use.
  void obey(const Pause& pause) { pause_ = settings_.pfc ? &pause : nullptr; }

  const LinkSettings& settings() const { return settings_; }

 private:
  LinkSettings settings_;
  bool only_loses_;
  RandomImpairments random_;
  RandomEarlyMarking early_marking_;
  BurstModel bursts_;
  EgressQueue egress_queue_;
  const SharedBuffer* buffer_ = nullptr;
  BackPressure back_pressure_;
  const Pause* pause_ = nullptr;
  transport::Time last_due_{};
};

}  // namespace urnic::link
