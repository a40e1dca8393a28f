#include "tests/unit/congestion/incast_end.hpp"

#include "tests/unit/recovery/link.hpp"

namespace urnic::transport::lab {

namespace {

constexpr std::uint32_t kMessage = 1u << 20;
constexpr std::uint32_t kMessagesPosted = 16;

std::uint32_t payload_of(const OutboundPacket& packet) {
  auto payload = static_cast<std::uint32_t>(packet.bytes.size());
  for (const MemoryRange& range : packet.gather) payload += range.length;
  return payload;
}

}  // namespace

IncastEnd::IncastEnd(const IncastEndSettings& settings, IncastNetwork& network)
    : settings_(settings),
      network_(network),
      reorder_pool_(2 * QpConfig{}.window_packets),  // one queue pair may hold half of a pool
      queue_pair(make_config()) {}

QpConfig IncastEnd::make_config() {
  QpConfig config;
  config.qpn = settings_.qpn;
  config.send_slots = config.receive_slots = 2 * kMessagesPosted;
  config.host = this;
  config.keys = &keys_;
  config.send_queue = &sends_;
  config.receive_queue = &receives_;
  config.counters = &counters;
  config.recovery = {.mode = RecoveryMode::sack};
  config.reorder_pool = &reorder_pool_;
  return config;
}

void IncastEnd::connect(Time now) {
  QpParameters parameters;
  parameters.access = {true, true, true};
  parameters.pkey = wire::Pkey{0xFFFF};
  parameters.path_mtu = settings_.path_mtu;
  parameters.destination = settings_.peer;
  parameters.max_reads = parameters.max_destination_reads = 16;
  parameters.timeout = 12;  // 16.8 ms
  parameters.retry_count = 7;
  parameters.rnr_retry = 7;
  for (const QpState state : {QpState::init, QpState::rtr, QpState::rts})
    queue_pair.modify(state, parameters, now);
  queue_pair.set_congestion(settings_.congestion, now);
}

void IncastEnd::write_endlessly(Time) {
  endless_ = true;
  sends_.shape(WorkOpcode::rdma_write, kMessage);
  sends_.post(kMessagesPosted);
  queue_pair.doorbell();
}

void IncastEnd::stop(Time now) {
  endless_ = false;
  queue_pair.modify(QpState::error, queue_pair.parameters(), now);
}

void IncastEnd::receive(const IncastPacket& packet, Time now) {
  queue_pair.receive({.headers = packet.headers,
                      .payload = lab::payload_of(packet.payload),
                      .congestion_experienced = packet.marked,
                      .selective_acks = packet.selective_acks},
                     now);
  reorder_pool_.batch_flushed();
}

void IncastEnd::send(const OutboundPacket& packet) {
  const bool request = wire::traits(packet.headers.bth.opcode).request;
  network_.take(*this, {.headers = packet.headers,
                        .payload = payload_of(packet),
                        .selective_acks = queue_pair.selective_acks(request)});
}

std::size_t IncastEnd::frame_bytes(const OutboundPacket& packet) const {
  return lab::frame_bytes(packet.headers, payload_of(packet));
}

void IncastEnd::complete(const Completion& completion, Stream) {
  endless_ = endless_ && completion.status == WorkStatus::success;
  if (!endless_ || completion.receive) return;
  sends_.post(1);
  queue_pair.doorbell();
}

}  // namespace urnic::transport::lab
