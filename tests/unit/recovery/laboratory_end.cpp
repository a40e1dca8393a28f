#include "tests/unit/recovery/laboratory_end.hpp"

namespace urnic::transport::lab {

LaboratoryEnd::LaboratoryEnd(const LaboratorySettings& settings, std::size_t side, Link& link,
                             Observer* const& observer)
    : side_(side),
      peer_(settings.peer),
      link_(link),
      observer_(observer),
      reorder_pool_(2 * settings.window_packets),  // one queue pair may hold half of a pool
      qp(make_config(settings)) {
  if (side == 1 && settings.peer == Peer::soft_roce) {
    soft_roce =
        std::make_unique<SoftRoceResponder>(*this, SoftRoceSettings{.first_psn = settings.first_psn,
                                                                    .path_mtu = settings.path_mtu,
                                                                    .resources = settings.max_reads,
                                                                    .burst = settings.processor.burst,
                                                                    .pause = settings.processor.pause});
  }
}

QpConfig LaboratoryEnd::make_config(const LaboratorySettings& settings) {
  QpConfig config;
  config.qpn = wire::Qpn{static_cast<std::uint32_t>(0x11 + side_)};
  config.send_slots = settings.send_slots;
  config.receive_slots = settings.send_slots;
  config.window_packets = settings.window_packets;
  config.responder_resources = settings.max_reads;
  config.host = this;
  config.keys = &keys_;
  config.send_queue = &sends;
  config.receive_queue = &receives;
  config.counters = &counters;
  config.recovery = settings.recovery[side_];
  config.reorder_pool = &reorder_pool_;
  return config;
}

void LaboratoryEnd::arrive(const Flight& flight, Time now) {
  now_ = now;
  if (observer_ != nullptr) observer_->arrived(side_, flight, this->now());
  if (soft_roce != nullptr) return soft_roce->receive(flight.headers, flight.payload);
  qp.receive({.headers = flight.headers,
              .payload = payload_of(flight.payload),
              .selective_acks = flight.selective_acks},
             now);
}

void LaboratoryEnd::on_timer(Time now) {
  now_ = now;
  if (observer_ != nullptr) observer_->timer(side_, this->now());
  soft_roce != nullptr ? soft_roce->on_timer(now) : qp.on_timer(now);
}

void LaboratoryEnd::transmit(Time now) {
  now_ = now;
  soft_roce != nullptr ? soft_roce->transmit(now) : void(qp.pump(now, 1));
}

void LaboratoryEnd::settle(Time now) {
  now_ = now;
  reorder_pool_.batch_flushed();
  wants_to_send_ = soft_roce != nullptr ? soft_roce->wants_to_transmit() : qp.wants_pump();
  deadline_ = soft_roce != nullptr ? soft_roce->deadline() : qp.deadline();
}

void LaboratoryEnd::send(const OutboundPacket& packet) {
  std::uint32_t payload = static_cast<std::uint32_t>(packet.bytes.size());
  for (const MemoryRange& range : packet.gather) payload += range.length;
  const bool request = wire::traits(packet.headers.bth.opcode).request;
  link_.send(packet.headers, payload, now_,
             peer_ == Peer::same_process ? qp.selective_acks(request) : SelectiveAcks::outside);
  if (observer_ != nullptr) observer_->sent(side_, packet.headers, payload, now());
}

void LaboratoryEnd::atomic(const AtomicAction& action) {
  if (action.original != nullptr) *action.original = 0;
  if (action.send_reply) send({.headers = action.reply, .bytes = {}, .gather = {}, .tag = action.tag});
}

void LaboratoryEnd::complete(const Completion& completion, Stream) {
  const bool success = completion.status == WorkStatus::success;
  if (completion.receive) {
    received += success ? 1 : 0;
    if (success) receives.replenish();
  } else {
    if (!success && failed == 0) first_failure = completion.status;
    ++(success ? completed : failed);
    last_completion = now();
  }
  if (observer_ != nullptr) observer_->completed(side_, completion, now());
}

}  // namespace urnic::transport::lab
