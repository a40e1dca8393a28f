// The port interface: where a device sends and receives frames. Only the link knows what is behind a port.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

#include "device_model/link/packet_identity.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"
#include "wire/identifiers.hpp"
#include "wire/network_headers.hpp"
#include "wire/psn.hpp"

namespace urnic::link {

// What a connected QP knows, and a frame from outside of this process does not say.
struct Connection {
  wire::NetworkHeaders path = {};  // of what it sends
  wire::Qpn peer = {};
  wire::Psn send_psn = {};     // of its own first request
  wire::Psn receive_psn = {};  // of its peer's
};

// A device's end: receives frames.
class FrameReceiver {
 public:
  // The frame's bytes stay valid until the engine's batch ends. `origin`: the sender's out-of-band data.
  virtual void arrive(const wire::Frame& frame, const PacketOrigin& origin) = 0;
  // A frame has come whose link's check sequence is wrong: the port drops it.
  virtual void arrive_damaged(const wire::Frame&) {}
  // The port's link was cut, or is up again.
  virtual void link_changed(bool /*up*/) {}
  // It takes frames that owe their ICRC (wire/frame.hpp). Others get none that does.
  virtual bool takes_owed_icrc() const { return false; }
  // The ordinal of the device's QP with this number, as in PacketIdentity; 0 if there is none.
  virtual std::uint32_t ordinal_of(wire::Qpn) const { return 0; }
  // Of the device's QP with this number; empty if there is none, or if it has no path.
  virtual std::optional<Connection> connection_of(wire::Qpn) const { return {}; }

 protected:
  ~FrameReceiver() = default;
};

// No payload is as long.
inline constexpr std::size_t kNeverInPlace = std::numeric_limits<std::size_t>::max();

// The link's end: takes the frames that a device sends.
class Port {
 public:
  // `now` never decreases. The bytes stay valid until the caller's batch ends. The frame may owe its ICRC.
  virtual void transmit(const wire::Frame& frame, const PacketOrigin& origin, transport::Time now) = 0;
  virtual bool up(transport::Time now) const = 0;

  // A frame on `path` with a payload of at least so many bytes that is transmitted now is given to a device's
  // receiver at once, if it is not lost, and until then nobody but that receiver reads its payload; or a
  // capture that is cut reads its first bytes and not its ICRC. Holds until settings of links, captures or
  // faults change.
  virtual std::size_t in_place_from(const wire::NetworkHeaders& /*path*/) const { return kNeverInPlace; }

  // How many bytes the device may send at `now` without its line falling behind; at least `least` when the
  // line is idle. A device that asks first never overruns its own link.
  virtual std::size_t room(transport::Time, std::size_t /*least*/) const {
    return std::numeric_limits<std::size_t>::max();
  }
  // When there is room again for at least `least` bytes; may be later, for more room.
  virtual transport::Time room_at(std::size_t /*least*/) const { return {}; }

 protected:
  ~Port() = default;
};

}  // namespace urnic::link
