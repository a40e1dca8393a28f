// The other side of a device's port: the built-in switch, or whatever else carries frames. A device attaches
// itself and gets a port; the engine asks between its batches for what has arrived.
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

// Engine thread only, once the engine runs.
class Uplink {
 public:
  // A port for the device with `address`, which frames to `address` arrive at. It belongs to the uplink;
  // `receiver` outlives its use. `device` is the device's name for observers. Throws std::invalid_argument if
  // the address is taken.
  virtual Port& attach(const wire::MacAddress& address, FrameReceiver& receiver, std::string_view device) = 0;

  // Delivers frames that are due at `now` to devices, in the order of their times whichever link they are on,
  // until `most` is reached; returns what that was. Their bytes stay until `release`.
  virtual Load deliver_due(transport::Time now, const Load& most) = 0;
  // The engine has carried out what the delivered frames brought about: their bytes are needed no more.
  virtual void release() = 0;
  // Frames were delivered since the last `release`.
  virtual bool owes_release() const = 0;

  // When the next frame is due or a link changes by itself; empty if nothing is under way.
  virtual std::optional<transport::Time> next_due() const = 0;
  // Frames are under way that were due at `now`: what the device sends meanwhile only makes them later.
  virtual bool overdue(transport::Time now) const = 0;
  // Frames that are under way or not released.
  virtual std::uint32_t count() const = 0;
  // A frame that is sent may be under way for some time.
  virtual bool takes_time() const = 0;
  // Readable when frames have come from outside of this process, which wakes the engine; -1: none come.
  virtual int wake_descriptor() const { return -1; }

 protected:
  ~Uplink() = default;
};

}  // namespace urnic::link
