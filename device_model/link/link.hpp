// A link between a device's port and the switch: two directions, and whether it is cut.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "device_model/link/link_channel.hpp"

namespace urnic::link {

class Link {
 public:
  // A perfect wire at first. `number` is the device's, in configuration order. `guide` outlives it, and is
  // told when the link is cut and when it is whole again. `transit` outlives it, too.
  Link(std::uint32_t number, std::string device, Transit& transit, TravelGuide& guide);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void configure(Direction direction, const LinkSettings& settings);
  // Asked about every packet from now on; null: nobody is. It outlives its use.
  void set_faults(FaultHook* faults);
  // Down until then: what enters is dropped, and what is under way when it would arrive.
  void cut(transport::Time until);
  void restore();
  bool up(transport::Time now) const { return !down_until_ || *down_until_ <= now; }

  // Frames pass as over a perfect wire: nobody needs to ask the channels.
  bool plain() const { return plain_; }

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

  // Does what is due at `now` by itself: the link is whole again, frames are held no longer.
  void look(transport::Time now);
  // When there is such a thing to do; empty if there is none.
  std::optional<transport::Time> next_look() const;
  void look_whether_plain();

 private:
  TravelGuide& guide_;
  std::uint32_t number_;
  std::string device_;
  bool plain_ = true;
  FaultHook* faults_ = nullptr;
  std::optional<transport::Time> down_until_;
  LinkChannel transmit_;
  LinkChannel receive_;
};

}  // namespace urnic::link
