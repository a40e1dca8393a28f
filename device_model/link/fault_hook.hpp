// Where a link asks a fault plan about every packet that enters it. The plan is device_model/fault; a link
// knows this interface only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/link/direction.hpp"
#include "device_model/link/packet_identity.hpp"
#include "device_model/link/why.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class FrameReceiver;

// What the hook is told of a packet.
struct PacketAtLink {
  const wire::Frame& frame;
  const PacketOrigin& origin;
  std::uint32_t device;  // whose link
  Direction direction;
  const FrameReceiver& receiver;  // the device that the packet is for
};

// What it has decided: all of it is done. `why` says which rules did, one remark for each.
struct Verdict {
  bool touched = false;  // everything else is looked at only if this is set
  bool drop = false;
  std::uint32_t more_copies = 0;
  transport::Nanoseconds delay{0};
  std::uint32_t behind = 0;  // held until that many later packets have passed
  transport::Nanoseconds hold{0};
  bool congestion = false;
  // Bits to turn over, counted from the frame's first bit, before the ICRC is made anew and after.
  std::array<std::uint32_t, 8> flips_before{};
  std::size_t flips_before_count = 0;
  std::array<std::uint32_t, 8> flips_after{};
  std::size_t flips_after_count = 0;
  // A packet that goes back to the sender in this one's place, valid until the next call of the hook; the
  // packet itself goes no further.
  std::span<const std::byte> answer;
  wire::Qpn answering_queue_pair = {};  // the QP in whose name the answer is made
  // The link goes down, with this packet, for so long; 0: it does not.
  transport::Nanoseconds cut{0};
  Why why;
};

class FaultHook {
 public:
  virtual void judge(const PacketAtLink& packet, transport::Time now, Verdict& verdict) = 0;

 protected:
  ~FaultHook() = default;
};

}  // namespace urnic::link
