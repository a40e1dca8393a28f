// The protocol machine of a QP of any transport service. Members are those of transport::QueuePair; reliable
// connections are checked first and called directly, because their packets must cost least.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "device_model/transport/reliable/queue_pair.hpp"
#include "device_model/transport/unreliable/unreliable_queue_pair.hpp"

namespace urnic::engine {

class TransportMachine {
 public:
  TransportMachine(transport::QpService service, const transport::QpConfig& config);

  bool is_reliable() const { return unreliable_ == nullptr; }

  transport::QpState state() const { return is_reliable() ? reliable_->state() : unreliable_->state(); }
  const transport::QpParameters& parameters() const {
    return is_reliable() ? reliable_->parameters() : unreliable_->parameters();
  }
  void modify(transport::QpState state, const transport::QpParameters& parameters, transport::Time now,
              bool notify_drained = false) {
    if (is_reliable()) return reliable_->modify(state, parameters, now, notify_drained);
    unreliable_->modify(state, parameters, notify_drained);
  }
  void set_pkey(wire::Pkey pkey) {
    if (is_reliable()) return reliable_->set_pkey(pkey);
    unreliable_->set_pkey(pkey);
  }
  bool drained() const { return is_reliable() ? reliable_->drained() : unreliable_->drained(); }
  void doorbell() {
    if (is_reliable()) return reliable_->doorbell();
    unreliable_->doorbell();
  }
  void receive(const transport::InboundPacket& packet, transport::Time now) {
    if (is_reliable()) return reliable_->receive(packet, now);
    unreliable_->receive(packet);
  }
  // Only if not reliable.
  void receive_datagram(const transport::InboundPacket& packet) { unreliable_->receive(packet); }
  std::uint32_t pump(transport::Time now, std::uint32_t packets) {
    return is_reliable() ? reliable_->pump(now, packets) : unreliable_->pump(now, packets);
  }
  bool wants_pump() const { return is_reliable() ? reliable_->wants_pump() : unreliable_->wants_pump(); }
  transport::SendPace& pace() { return is_reliable() ? reliable_->pace() : unreliable_->pace(); }
  void memory_failed(const transport::AccessTag& tag) {
    if (is_reliable()) return reliable_->memory_failed(tag);
    unreliable_->memory_failed(tag);
  }

  transport::QueuePairSnapshot snapshot() const;
  // Empty if not reliable.
  std::optional<transport::QueuePairDetail> detail() const {
    if (!is_reliable()) return std::nullopt;
    return reliable_->detail();
  }

  // Only reliable connections have these, because they await and owe acknowledgements. No effect with other
  // services.
  void set_recovery(const transport::RecoverySettings& settings) {
    if (is_reliable()) reliable_->set_recovery(settings);
  }
  void set_congestion(const transport::CongestionSettings& settings, transport::Time now) {
    if (is_reliable()) reliable_->set_congestion(settings, now);
  }
  void prefetch_next_request() const {
    if (is_reliable()) reliable_->prefetch_next_request();
  }
  void receive_lost() {
    if (is_reliable()) reliable_->receive_lost();
  }
  transport::SelectiveAcks selective_acks(bool in_request) const {
    return is_reliable() ? reliable_->selective_acks(in_request) : transport::SelectiveAcks::no;
  }
  bool is_held_back(transport::Time now) const {
    return is_reliable() ? reliable_->is_held_back(now) : !unreliable_->pace().may_send(now);
  }
  transport::Time free_at() const {
    return is_reliable() ? reliable_->free_at() : unreliable_->pace().free_at();
  }
  bool tells_of_hole() const { return is_reliable() && reliable_->tells_of_hole(); }
  std::uint32_t pump_responses(std::uint32_t packets) {
    return is_reliable() ? reliable_->pump_responses(packets) : 0;
  }
  bool is_urgent() const { return is_reliable() && reliable_->is_urgent(); }
  std::uint32_t pump_urgent(transport::Time now, std::uint32_t packets) {
    return is_reliable() ? reliable_->pump_urgent(now, packets) : 0;
  }
  std::optional<transport::Time> deadline() const {
    return is_reliable() ? reliable_->deadline() : std::nullopt;
  }
  void on_timer(transport::Time now) {
    if (is_reliable()) reliable_->on_timer(now);
  }

 private:
  std::unique_ptr<transport::UnreliableQueuePair> unreliable_;  // or null
  std::optional<transport::QueuePair> reliable_;                // empty if the other is not null
};

}  // namespace urnic::engine
