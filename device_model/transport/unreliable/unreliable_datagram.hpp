// Unreliable datagram (IBTA 9.8.3): messages of one packet, each to wherever its work request says, from
// any sender that knows the Q_Key.
#pragma once

#include "device_model/transport/unreliable/unreliable_queue_pair.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

// What a received datagram begins with in memory, whether or not the packet had a header of this form on the
// wire (IBTA 11.4.1.2; A17.4.5.2 for RoCEv2).
inline constexpr std::uint32_t kGrhBytes = 40;

class UnreliableDatagram final : public UnreliableQueuePair {
 public:
  using UnreliableQueuePair::UnreliableQueuePair;

 private:
  void start_receiving() override {}
  void start_sending() override { next_psn_ = parameters().send_psn; }
  WorkStatus check(const SendRequest& request) const override;
  std::uint32_t packets_of(const SendRequest&) const override { return 1; }
  WorkStatus send_packet(const SendRequest& request, std::uint32_t at, std::uint32_t count,
                         Time now) override;
  void take_packet(const InboundPacket& packet) override;

  bool is_let_in(const InboundPacket& packet);

  wire::Psn next_psn_;
};

}  // namespace urnic::transport
