// Raw packets (IBV_QPT_RAW_PACKET of libibverbs; IBTA 9.6 has no such service): a SEND is a whole Ethernet
// frame as the program made it, without the frame check sequence; so is a received message. The host decides
// which frames are for the QP, and hands in each as the payload of a packet.
#pragma once

#include "device_model/transport/unreliable/unreliable_queue_pair.hpp"

namespace urnic::transport {

// An Ethernet header: a shorter frame has no destination.
inline constexpr std::uint32_t kShortestRawFrame = 14;
// What a port carries around the MTU's bytes: an Ethernet header with a VLAN tag.
inline constexpr std::uint32_t kRawFrameHeader = 18;

// `path_mtu` of its parameters is the length of the longest frame, header included.
class RawPacket final : public UnreliableQueuePair {
 public:
  using UnreliableQueuePair::UnreliableQueuePair;

 private:
  void start_receiving() override {}
  void start_sending() override {}
  WorkStatus check(const SendRequest& request) const override;
  std::uint32_t packets_of(const SendRequest&) const override { return 1; }
  WorkStatus send_packet(const SendRequest& request, std::uint32_t at, std::uint32_t count,
                         Time now) override;
  void take_packet(const InboundPacket& packet) override;
};

}  // namespace urnic::transport
