// End-to-end flow control as the requester sees it (IBTA 9.7.7.2): how many messages that consume a receive
// WQE the responder has room for, and what is sent when it has none: a probe, one packet that asks for an
// acknowledgement. Nothing new follows a probe before it is acknowledged or its message has a credit.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/requester/send_window.hpp"
#include "device_model/transport/segmentation.hpp"
#include "device_model/transport/time.hpp"
#include "wire/aeth.hpp"
#include "wire/headers.hpp"

namespace urnic::transport {

class FlowControl {
 public:
  // How long the requester waits for new receives before it sends a probe (IBTA
  // 9.7.7.2.5 says that a probe may be sent, not when): a few times what a program that runs takes, and much
  // less than RNR timers are in practice.
  static constexpr Nanoseconds kPatience{100'000};

  // Before the first acknowledgement nothing is known: the first message is already a probe.
  void start() { *this = {}; }

  // The AETH of a positive acknowledgement. The limit sequence number is the responder's MSN plus its credits
  // and never moves back, because responses can arrive late (IBTA 9.7.7.2.3).
  void update(const wire::Aeth& aeth) {
    const std::uint8_t code = wire::code(aeth.syndrome);
    unlimited_ = code == wire::kInvalidCreditCode;
    if (unlimited_) return;
    const wire::Msn limit{(aeth.msn.value + wire::credits_from_code(code)) & 0xFFFFFF};
    if (distance(limit_, limit) > 0) limit_ = limit;
  }

  // After every ACK. `nothing_left`: it acknowledges everything that was sent, gives no credit, and more is
  // to be sent. A probe at once would nearly always be refused, and an RNR timer is long, so none is sent for
  // a while.
  void acknowledged(bool nothing_left, Time now) {
    probe_from_.reset();
    if (nothing_left) probe_from_ = now + kPatience;
  }

  // Whether `packet`, the next one of `slot`, must wait. While a response is under way, which may bring
  // credits, no probe is sent: one that finds no receive costs an RNR timer.
  bool holds_back(const SendSlot& slot, PacketNumber packet, PacketNumber unacknowledged,
                  bool response_expected) const {
    if (probe_ && unacknowledged <= probe_->packet && !allows(probe_->message)) return true;
    return (response_expected || probe_from_) && lacks_credit(slot, packet);
  }
  // `packet` of `slot` is sent for the first time. Without a credit it is a probe (IBTA 9.7.7.2.5).
  void sending(const SendSlot& slot, PacketNumber packet) {
    if (lacks_credit(slot, packet)) probe_ = Probe{packet, slot.message};
  }
  bool is_probe(PacketNumber packet) const { return probe_ && probe_->packet == packet; }
  // Packets from `end` on will not be sent again.
  void truncate(PacketNumber end) {
    if (probe_ && probe_->packet >= end) probe_.reset();
  }

  // Messages that may follow the one numbered `message`; negative: it lacks a credit itself. Empty: the peer
  // gives no credits.
  std::optional<std::int32_t> credits_behind(wire::Msn message) const {
    if (unlimited_) return std::nullopt;
    return distance(message, limit_);
  }

  std::optional<Time> deadline() const { return probe_from_; }
  void on_timer(Time now) {
    if (probe_from_ && now >= *probe_from_) probe_from_.reset();
  }
  void stop_timer() { probe_from_.reset(); }

 private:
  struct Probe {
    PacketNumber packet;
    wire::Msn message;
  };

  static std::int32_t distance(wire::Msn from, wire::Msn to) {
    return static_cast<std::int32_t>((to.value - from.value) << 8) >> 8;
  }
  // Whether the message with this send sequence number (the first message has 1) has a credit.
  bool allows(wire::Msn message) const { return unlimited_ || distance(message, limit_) >= 0; }
  // A receive WQE is taken by the first packet of a SEND and by the last of a WRITE with immediate data (IBTA
  // 9.7.7.2.1).
  bool lacks_credit(const SendSlot& slot, PacketNumber packet) const {
    if (!consumes_receive(slot.request.opcode) || allows(slot.message)) return false;
    const bool write = slot.request.opcode == WorkOpcode::rdma_write_with_immediate;
    return write ? packet + 1 == slot.end() : packet == slot.first;
  }

  wire::Msn limit_;
  bool unlimited_ = false;
  std::optional<Probe> probe_;      // sent last
  std::optional<Time> probe_from_;  // no probe before
};

}  // namespace urnic::transport
