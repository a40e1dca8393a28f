// The other side of a device's port: the built-in switch, or anything else that carries frames. A device
// attaches itself and gets a port; the engine polls for arrived frames between its batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "device_model/link/port.hpp"
#include "device_model/transport/time.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

struct Load {
  std::uint32_t frames = 0;
  std::size_t bytes = 0;
};

// Used by the engine thread only, once the engine runs.
class Uplink {
 public:
  // Makes a port for the device with `address`. The port belongs to the uplink; `receiver` outlives its use.
  // `device` is the device's name for observers. Throws std::invalid_argument if the address is taken.
  virtual Port& attach(const wire::MacAddress& address, FrameReceiver& receiver, std::string_view device) = 0;

  // Delivers frames that are due at `now`, in the order of their due times over all links, until `most` is
  // reached; returns how much was delivered. The bytes stay valid until `release`.
  virtual Load deliver_due(transport::Time now, const Load& most) = 0;
  // The engine has carried out the actions of the delivered frames and no longer needs their bytes.
  virtual void release() = 0;
  // Frames were delivered since the last `release`.
  virtual bool owes_release() const = 0;

  // The engine has slept: the next deliver_due looks for all that may have woken it.
  virtual void woken() {}
  // A round ends: what was sent in it leaves this process.
  virtual void flush() {}

  // When the next frame is due or a link changes by itself; empty if nothing is pending.
  virtual std::optional<transport::Time> next_due() const = 0;
  // Frames due at `now` are still under way: sending more would delay them further.
  virtual bool overdue(transport::Time now) const = 0;
  // Frames that are under way or not released.
  virtual std::uint32_t count() const = 0;
  // A frame may stay under way for some time after it was sent.
  virtual bool takes_time() const = 0;

 protected:
  ~Uplink() = default;
};

}  // namespace urnic::link
