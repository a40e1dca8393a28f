// A link between a device's port and the switch: two directions, and whether the link is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device_model/link/link_channel.hpp"

namespace urnic::link {

class Link {
 public:
  // Starts as a perfect wire. `number` is the device's, in configuration order. `forwarder` is told when the
  // link is cut and when it is up again. `forwarder` and `in_flight` outlive the link.
  Link(std::uint32_t number, std::string device, FramesInFlight& in_flight, Forwarder& forwarder);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void configure(Direction direction, const LinkSettings& settings);
  // From now on asks `faults` about every packet; null: no fault plan. It outlives its use.
  void set_faults(FaultHook* faults);
  // Takes the link down until then: drops packets that enter, and packets that would arrive meanwhile.
  void cut(transport::Time until);
  // Ends the cut.
  void restore();
  // Whether the wire behind the port works; packets are dropped as by a cut while it does not. A cut does not
  // end with it, nor it with a cut.
  void set_carrier(bool present);
  bool up(transport::Time now) const { return carrier_ && (!down_until_ || *down_until_ <= now); }

  // The link is a perfect wire in this direction: the switch does not need to ask the channel.
  bool plain(Direction direction) const {
    return direction == Direction::transmit ? transmit_plain_ : receive_plain_;
  }
  // In both.
  bool plain() const { return transmit_plain_ && receive_plain_; }

  // Nobody reads a frame's payload on the way in this direction: it is handed on at once, or lost.
  bool passes_unread(Direction direction) const {
    const LinkChannel& passed = channel(direction);
    return faults_ == nullptr && loses_at_most(passed.settings()) && passed.empty();
  }

  bool takes_time() const {
    return link::takes_time(transmit_.settings()) || link::takes_time(receive_.settings());
  }

  std::uint32_t number() const { return number_; }
  const std::string& device() const { return device_; }
  LinkChannel& channel(Direction direction) {
    return direction == Direction::transmit ? transmit_ : receive_;
  }
  const LinkChannel& channel(Direction direction) const {
    return direction == Direction::transmit ? transmit_ : receive_;
  }

  // Does what is due at `now` without a packet: the link comes up again, held frames are released.
  void look(transport::Time now);
  // When `look` has something to do; empty if nothing is pending.
  std::optional<transport::Time> next_look() const;
  void look_whether_plain();

 private:
  void end_cut();
  void follow_state();

  Forwarder& forwarder_;
  std::uint32_t number_;
  std::string device_;
  bool transmit_plain_ = true;
  bool receive_plain_ = true;
  FaultHook* faults_ = nullptr;
  std::optional<transport::Time> down_until_;
  bool carrier_ = true;
  bool told_up_ = true;  // to the forwarder
  LinkChannel transmit_;
  LinkChannel receive_;
};

}  // namespace urnic::link
