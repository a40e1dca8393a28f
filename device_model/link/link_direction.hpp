// One direction of a link, without frames, clock or thread: it is told that a packet enters at a time, and
// says what becomes of the packet. Who carries frames (link_channel.hpp) or anything else through a simulated
// link asks it, and keeps what is under way in a DueQueue.
#pragma once

#include <cstdint>

#include "device_model/link/burst_model.hpp"
#include "device_model/link/fate.hpp"
#include "device_model/link/line.hpp"
#include "device_model/link/link_settings.hpp"
#include "device_model/link/packet_identity.hpp"

namespace urnic::link {

enum class DropCause : std::uint8_t {
  none,
  loss,         // chance, packet by packet
  burst,        // a burst of losses
  queue_full,   // the line's queue
  cut,          // the link is down
  fault,        // a rule of the fault plan
  buffer_full,  // no room to keep another packet under way
};
inline constexpr std::size_t kDropCauses = 7;

// What becomes of a packet that enters.
struct Passage {
  DropCause drop = DropCause::none;
  // The rest if it is not dropped. All copies arrive at `due`; `corrupted` and `congestion` are of the
  // packet, so of all its copies.
  std::uint32_t copies = 1;
  transport::Time due{};
  transport::Nanoseconds jitter{0};  // the part of the delay that chance added
  // Held until that many later packets have passed, but not beyond `latest`; 0: not held.
  std::uint32_t behind = 0;
  transport::Time latest{};
  bool corrupted = false;
  std::uint64_t corruption = 0;  // random bits that choose the bit to turn over
  bool congestion = false;       // to be marked "congestion experienced" if its sender can be told

  // Something else happens to it than to arrive, once, as it is.
  bool is_touched() const {
    return copies != 1 || behind != 0 || corrupted || congestion || jitter.count() > 0;
  }
};

class LinkDirection {
 public:
  // `device` is the number of the device whose link it is. Allocates here and never again.
  LinkDirection(const LinkSettings& settings, std::uint32_t device, Direction direction);

  // A packet of `bytes` (a whole frame, without what Line adds) enters at `now`, which never goes back.
  Passage enter(transport::Time now, std::uint32_t bytes, const PacketIdentity& packet);

  // What `enter` would do is to lose the packet or nothing: asking for that alone is quicker.
  bool only_loses() const { return only_loses_; }
  bool loses(const PacketIdentity& packet) { return fates_.loses(packet); }

  // How many bytes may be handed over at `now` without more than `ahead` of them waiting for the line.
  // Without a rate, more than anybody has; with one, enough for a packet of `least` bytes whenever the line
  // is idle.
  std::size_t room(transport::Time now, transport::Nanoseconds ahead, std::size_t least) const;
  // When there is room for half of `ahead`, or for `least` bytes if that is more, if nothing else enters.
  transport::Time room_at(transport::Nanoseconds ahead, std::size_t least) const;
  // When the line is idle, if nothing else enters.
  transport::Time clear_at() const { return line_.clear_at(); }

  const LinkSettings& settings() const { return settings_; }

 private:
  LinkSettings settings_;
  bool only_loses_;
  Fates fates_;
  BurstModel bursts_;
  Line line_;
  transport::Time last_due_{};
};

}  // namespace urnic::link
