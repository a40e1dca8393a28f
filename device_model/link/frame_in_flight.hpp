// A frame on its way from port to port, and what handles it at the end of each channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "device_model/link/direction.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/remarks.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class SwitchPort;
struct PooledFrame;

struct FrameInFlight {
  // A constructor, because the compiler would clear the whole aggregate first, including all of `remarks`.
  FrameInFlight(const wire::Frame& of, const PacketOrigin& sent_by, SwitchPort* sender, SwitchPort* receiver)
      : frame(of), origin(sent_by), from(sender), to(receiver) {}

  wire::Frame frame;
  PacketOrigin origin;
  SwitchPort* from;
  SwitchPort* to;
  // The pool's slot that has the frame's bytes; null: the bytes are elsewhere. A channel that keeps the frame
  // under way takes the slot and clears this.
  PooledFrame* slot = nullptr;
  bool is_damaged = false;  // of InfiniBand: its VCRC is wrong
  Remarks remarks;
};

class Forwarder {
 public:
  // The frame has reached the end of a channel.
  virtual void hand_on(FrameInFlight& flight, Direction passed, transport::Time now) = 0;
  // The frame was dropped; `flight.remarks` says why.
  virtual void dropped(const FrameInFlight& flight, std::string_view device, Direction where) = 0;
  // Sends a fault's answer back to the sender of `flight`, as if from the receiver's QP `by`.
  virtual void answer(const FrameInFlight& flight, std::span<const std::byte> frame, wire::Qpn by,
                      transport::Time now) = 0;
  // A fault has cut the link of port number `port`; `restored`: somebody ends the cut before its time.
  virtual void cut(std::uint32_t /*port*/, transport::Time /*from*/, transport::Time /*until*/) {}
  virtual void restored(std::uint32_t /*port*/) {}
  // The link of port number `port` was cut, or is up again.
  virtual void link_changed(std::uint32_t /*port*/, bool /*up*/) {}

 protected:
  ~Forwarder() = default;
};

}  // namespace urnic::link
