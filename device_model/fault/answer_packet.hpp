// An acknowledge packet that a link sends back in the receiver's place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/fault/packet_view.hpp"
#include "wire/frame.hpp"

namespace urnic::fault {

class AnswerPacket {
 public:
  // Answers a request with the AETH `syndrome`, for the request's PSN, with a right ICRC. The message
  // sequence number is 0, since a link does not know it. A request from outside does not say which QP sent
  // it: its answer is for the peer of the QP that it was sent to. Empty if the request is no RoCEv2 packet,
  // or comes from outside and from nobody's peer. The bytes are valid until the next call.
  std::span<const std::byte> make(const link::PacketAtLink& request, const PacketView& view,
                                  std::uint8_t syndrome);

 private:
  std::array<std::byte, wire::kMaxHeaderBytes + wire::kMaxTrailerBytes> bytes_;
};

}  // namespace urnic::fault
