// The port interface: where a device's frames leave and arrive. What is behind a port (the built-in switch
// now; UDP and Ethernet links later) is the link's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "device_model/link/packet_identity.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// A device's end: takes frames that arrive.
class FrameReceiver {
 public:
  // The frame's bytes stay until the engine's batch ends. `origin` is what the sender says beside the frame.
  virtual void arrive(const wire::Frame& frame, const PacketOrigin& origin) = 0;
  // The port's link has been cut, or is whole again.
  virtual void link_changed(bool /*up*/) {}
  // The ordinal of one of its QPs, as in PacketIdentity; 0 if there is none of this number.
  virtual std::uint32_t ordinal_of(wire::Qpn) const { return 0; }

 protected:
  ~FrameReceiver() = default;
};

// The link's end: takes frames that a device sends.
class Port {
 public:
  // At `now`, which never goes back. The bytes may be used until the caller's batch ends.
  virtual void transmit(const wire::Frame& frame, const PacketOrigin& origin, transport::Time now) = 0;
  virtual bool up(transport::Time now) const = 0;

  // How many bytes the device may hand over at `now` without its line falling behind; at least `least` when
  // the line is idle. A device that asks first never overruns its own link.
  virtual std::size_t room(transport::Time, std::size_t /*least*/) const {
    return std::numeric_limits<std::size_t>::max();
  }
  // When there is room again for at least `least` bytes, and for some more where that is worth waiting for.
  virtual transport::Time room_at(std::size_t /*least*/) const { return {}; }

 protected:
  ~Port() = default;
};

}  // namespace urnic::link
