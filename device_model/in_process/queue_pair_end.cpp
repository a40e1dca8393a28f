#include "device_model/in_process/queue_pair_end.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace urnic::in_process {
namespace {

constexpr std::uint32_t kCqSlots = 256;

}  // namespace

QueuePairEnd::QueuePairEnd(ContextEnd& context, std::uint32_t doorbell, const QueuePairLayout& l)
    : layout(l),
      send_slots(std::size_t{l.send_slots} * l.send_slot_size),
      receive_slots(std::size_t{l.receive_slots} * l.receive_slot_size),
      send_cq(kCqSlots, &context.channel.device_end(), &context.async_events.device_end(),
              1000 + doorbell * 10),
      receive_cq(kCqSlots, &context.channel.device_end(), &context.async_events.device_end(),
                 1001 + doorbell * 10),
      context_(context),
      doorbell_(doorbell) {
  hosted_ =
      engine::QueuePairContext::make({.device = &context.device.resources(),
                                      .service = l.service,
                                      .pd = context.pd,
                                      .send_cq = l.has_own_cqs() ? send_cq.device_end.get() : nullptr,
                                      .receive_cq = l.has_own_cqs() ? receive_cq.device_end.get() : nullptr,
                                      .async_events = &context.async_events.device_end(),
                                      .user_handle = 5000 + doorbell,
                                      .xrc_domain = l.xrc_domain,
                                      .context = l.context,
                                      .ordinal = l.ordinal,
                                      .signal_all = l.signal_all,
                                      .blocks_own_multicast = l.blocks_own_multicast,
                                      .takes_check_sequences = l.takes_check_sequences,
                                      .send_ring = send_slots.data(),
                                      .send_slots = l.send_slots,
                                      .send_slot_size = l.send_slot_size,
                                      .receive_ring = receive_slots.data(),
                                      .receive_slots = l.receive_slots,
                                      .receive_slot_size = l.receive_slot_size,
                                      .shared_receive_queue = l.srq,
                                      .tag_matching = l.tags,
                                      .indices = &indices,
                                      .several_processes = &context.several_processes,
                                      .recovery = l.recovery});
}

void QueuePairEnd::install() {
  hosted_->install();
  context_.doorbell_set.attach(doorbell_, *hosted_);
}

void QueuePairEnd::remove() {
  context_.doorbell_set.detach(doorbell_);
  hosted_.reset();
}

void QueuePairEnd::write_send(const abi::SendWqe& head, std::span<const std::byte> behind) {
  std::byte* const slot =
      send_slots.data() + std::size_t{send_producer & (layout.send_slots - 1)} * layout.send_slot_size;
  std::memcpy(slot, &head, sizeof head);
  if (!behind.empty()) std::memcpy(slot + sizeof head, behind.data(), behind.size());
  ++send_producer;
}

void QueuePairEnd::ring() {
  indices.send_producer.store(send_producer, std::memory_order_release);
  context_.doorbells->ring(doorbell_);
}

void QueuePairEnd::post_send(const abi::SendWqe& head, std::span<const abi::ScatterGather> sges) {
  abi::SendWqe counted = head;
  counted.sge_count = static_cast<std::uint8_t>(sges.size());
  write_send(counted, std::as_bytes(sges));
  ring();
}

void QueuePairEnd::post_inline(abi::SendWqe head, std::span<const std::byte> data) {
  head.flags |= abi::send_inline;
  head.inline_length = static_cast<std::uint32_t>(data.size());
  write_send(head, data);
  ring();
}

void QueuePairEnd::write_receive(std::span<const abi::ScatterGather> sges) {
  std::byte* const slot = receive_slots.data() + std::size_t{receive_producer & (layout.receive_slots - 1)} *
                                                     layout.receive_slot_size;
  const abi::ReceiveWqe head{.sge_count = static_cast<std::uint32_t>(sges.size()), .reserved = {}};
  std::memcpy(slot, &head, sizeof head);
  if (!sges.empty()) std::memcpy(slot + sizeof head, sges.data(), sges.size_bytes());
  ++receive_producer;
}

void QueuePairEnd::post_receive(std::span<const abi::ScatterGather> sges) {
  write_receive(sges);
  indices.receive_producer.store(receive_producer, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (indices.in_error.load() != 0) context_.doorbells->ring(doorbell_);
}

std::optional<PolledCompletion> QueuePairEnd::poll_receive() {
  const std::optional<PolledCompletion> polled = receive_cq.poll();
  if (!polled || (polled->flags & abi::cqe_inline) == 0) return polled;
  const std::byte* const slot =
      receive_slots.data() +
      std::size_t{polled->wqe_index & (layout.receive_slots - 1)} * layout.receive_slot_size;
  abi::ReceiveWqe head;
  std::memcpy(&head, slot, sizeof head);
  std::uint32_t done = 0;
  for (std::uint32_t i = 0; i < head.sge_count && done < polled->byte_length; ++i) {
    abi::ScatterGather sge;
    std::memcpy(&sge, slot + sizeof head + i * sizeof sge, sizeof sge);
    const std::uint32_t part = std::min(sge.length, polled->byte_length - done);
    std::memcpy(reinterpret_cast<void*>(sge.address), polled->inline_data.data() + done, part);
    done += part;
  }
  return polled;
}

}  // namespace urnic::in_process
