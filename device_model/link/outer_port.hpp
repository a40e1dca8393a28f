// What leads out of this process at a port of the switch: a UDP socket, an Ethernet interface, a socket of
// frames. A frame that leaves arrives at it as at a device. A frame that comes enters the switch as if a
// device had sent it. So a device's link, captures and counters are the same on every kind of wire.
#pragma once

#include <optional>

#include "device_model/link/port.hpp"
#include "device_model/link/uplink.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::link {

// Engine thread only. System calls are made for a round's frames together: in `take` and `flush`.
class OuterPort : public FrameReceiver {
 public:
  // A round begins: gives frames that have come from outside to `port`, at most `most`. Their bytes stay in
  // place until `release`. Their origin has kUnknownQpn, and an address that the outside cannot choose
  // freely: a connected QP takes packets only from the address at which its path ends.
  virtual void take(Port& port, transport::Time now, const Load& most) = 0;
  virtual void release() = 0;
  // Frames that were taken since the last `release`.
  virtual std::uint32_t unreleased() const = 0;

  // The engine has slept. What came from outside may have woken it, and does not wake it again.
  virtual void woken() {}
  // When `take` has something to do although nothing comes.
  virtual std::optional<transport::Time> next_due() const { return {}; }

  // A frame leaves, at the latest with the next `flush`. Until then its payload stays in place, or all of it
  // if it is in one piece; headers and trailer are copied in this call.
  void arrive(const wire::Frame& frame, const PacketOrigin& origin) override = 0;
  virtual void flush() = 0;

  // A device that asks first never loses a frame because the outside takes no more at the moment.
  virtual bool has_room(transport::Time /*now*/) const { return true; }
  virtual transport::Time room_at() const { return {}; }

 protected:
  ~OuterPort() = default;
};

}  // namespace urnic::link
