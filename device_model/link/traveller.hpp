// A frame on its way from port to port, and who takes it at the end of each channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "device_model/link/direction.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/why.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class SwitchPort;
struct PooledFrame;

struct Traveller {
  // A constructor, because the compiler clears a whole aggregate before it fills it in, with all of `why`.
  Traveller(const wire::Frame& of, const PacketOrigin& sent_by, SwitchPort* sender, SwitchPort* receiver)
      : frame(of), origin(sent_by), from(sender), to(receiver) {}

  wire::Frame frame;
  PacketOrigin origin;
  SwitchPort* from;
  SwitchPort* to;
  // The slot that has the frame's bytes, if it is one of the pool's. A channel that keeps the frame under way
  // takes the slot and clears this.
  PooledFrame* slot = nullptr;
  Why why;
};

class TravelGuide {
 public:
  // The frame has come to the end of a channel.
  virtual void hand_on(Traveller& traveller, Direction passed, transport::Time now) = 0;
  // It goes no further; `traveller.why` says why.
  virtual void dropped(const Traveller& traveller, std::string_view device, Direction where) = 0;
  // A fault's answer goes back to the sender of `traveller`, in the name of the QP `by` of the receiver.
  virtual void answer(const Traveller& traveller, std::span<const std::byte> frame, wire::Qpn by,
                      transport::Time now) = 0;
  // The link of the port with this number has been cut, or is whole again.
  virtual void link_changed(std::uint32_t /*port*/, bool /*up*/) {}

 protected:
  ~TravelGuide() = default;
};

}  // namespace urnic::link
