// Unreliable connection (IBTA 9.8.2): SEND and RDMA WRITE towards one peer, in order, without
// acknowledgements. A message of which a packet is missing is dropped as a whole; nobody is told.
#pragma once

#include "device_model/transport/request_check.hpp"
#include "device_model/transport/unreliable/unreliable_queue_pair.hpp"
#include "wire/psn.hpp"

namespace urnic::transport {

class UnreliableConnection final : public UnreliableQueuePair {
 public:
  using UnreliableQueuePair::UnreliableQueuePair;

 private:
  // Whether the message can go on.
  enum class Placed : std::uint8_t { yes, drop_message, failed };

  void start_receiving() override;
  void start_sending() override;
  WorkStatus check(const SendRequest& request) const override;
  std::uint32_t packets_of(const SendRequest& request) const override;
  WorkStatus send_packet(const SendRequest& request, std::uint32_t at, std::uint32_t count,
                         Time now) override;
  void take_packet(const InboundPacket& packet) override;

  bool continues_message(const wire::Bth& bth);
  void drop_message();
  Placed execute(const InboundPacket& packet);
  Placed execute_send(const InboundPacket& packet);
  Placed execute_write(const InboundPacket& packet);
  bool place_write(const InboundPacket& packet);

  wire::Psn next_psn_;      // sent next
  wire::Psn expected_psn_;  // of the packet that would come in order
  MessageUnderWay message_ = MessageUnderWay::none;
  bool established_ = false;  // a packet has arrived since the QP entered RTR
  // Of the RDMA WRITE under way.
  std::uint64_t write_address_ = 0;
  wire::Rkey write_rkey_;
  std::uint32_t write_length_ = 0;
  std::uint32_t write_remaining_ = 0;
};

}  // namespace urnic::transport
