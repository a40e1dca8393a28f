// A link asks this interface about every packet that enters the link. device_model/fault implements it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/link/direction.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/remarks.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class FrameReceiver;

// A packet as the hook sees it.
struct PacketAtLink {
  const wire::Frame& frame;
  const PacketOrigin& origin;
  std::uint32_t device;  // whose link this is
  Direction direction;
  const FrameReceiver& receiver;  // the device that the packet is for
};

// What the fault plan does to the packet: all that is set. `remarks` has a remark for each rule that acted.
struct Verdict {
  bool touched = false;  // if not set, nothing else is read
  bool drop = false;
  std::uint32_t more_copies = 0;
  transport::Nanoseconds delay{0};
  std::uint32_t behind = 0;  // held until this many later packets have passed
  transport::Nanoseconds hold{0};
  bool congestion = false;
  // Bits to invert before and after the new ICRC is computed, counted from the frame's first bit.
  std::array<std::uint32_t, 8> flips_before{};
  std::size_t flips_before_count = 0;
  std::array<std::uint32_t, 8> flips_after{};
  std::size_t flips_after_count = 0;
  // A packet to send back to the sender, valid until the next call of the hook; the packet itself is dropped,
  // unless it goes on.
  std::span<const std::byte> answer;
  bool goes_on_when_answered = false;
  wire::Qpn answering_queue_pair = {};  // the QP that the answer claims to come from
  // With this packet the link goes down for this time; 0: stays up.
  transport::Nanoseconds cut{0};
  Remarks remarks;
};

class FaultHook {
 public:
  virtual void judge(const PacketAtLink& packet, transport::Time now, Verdict& verdict) = 0;

 protected:
  ~FaultHook() = default;
};

}  // namespace urnic::link
