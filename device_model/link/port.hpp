// The port interface: where a device's frames leave and arrive. What is behind a port (the built-in switch
// now; UDP and Ethernet links later) is the link's business.
#pragma once

#include "wire/frame.hpp"
#include "wire/identifiers.hpp"

namespace urnic::link {

// A device's end: takes frames that arrive.
class FrameReceiver {
 public:
  // The frame's bytes are valid during the call; payload bytes stay valid until the engine's batch ends if
  // `payload_is_stable`, otherwise the receiver copies what it keeps.
  virtual void arrive(const wire::Frame& frame, bool payload_is_stable) = 0;

 protected:
  ~FrameReceiver() = default;
};

// The link's end: takes frames that a device sends.
class Port {
 public:
  virtual void transmit(const wire::Frame& frame) = 0;
  virtual bool up() const = 0;

 protected:
  ~Port() = default;
};

}  // namespace urnic::link
