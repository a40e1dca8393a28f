// A packet that a link sends back in the receiver's place: an acknowledge packet or a congestion
// notification.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/fault/packet_view.hpp"
#include "wire/congestion_notification.hpp"
#include "wire/frame.hpp"

namespace urnic::fault {

// Both have a right ICRC. A packet from outside does not say which QP sent it: its answer is for the peer of
// the QP that it was sent to. Empty if the packet is no RoCEv2 packet, or comes from outside and from
// nobody's peer. The bytes are valid until the next call.
class AnswerPacket {
 public:
  // Answers a request with the AETH `syndrome`, for the request's PSN. The message sequence number is 0,
  // since a link does not know it.
  std::span<const std::byte> acknowledge(const link::PacketAtLink& request, const PacketView& view,
                                         std::uint8_t syndrome);
  // Answers a packet as if it were marked "congestion experienced" (IBTA A17.9.3).
  std::span<const std::byte> notify(const link::PacketAtLink& packet, const PacketView& view);

 private:
  std::span<const std::byte> keep(const wire::NetworkHeaders& network, const wire::TransportHeaders& headers,
                                  std::span<const std::byte> payload);

  std::array<std::byte, wire::kMaxHeaderBytes + wire::kNotificationPayload.size() + wire::kMaxTrailerBytes>
      bytes_;
};

}  // namespace urnic::fault
