#include "device_model/in_process/shared_receives_end.hpp"

#include <cstring>

namespace urnic::in_process {

SharedReceivesEnd::SharedReceivesEnd(ContextEnd& context, std::uint32_t count, transport::PdId pd,
                                     engine::XrcDomain* domain, engine::CompletionQueue* cq)
    : slot_count(count), slots(std::size_t{count} * kSlotSize), posted(count) {
  device_end = std::make_unique<engine::SharedReceiveQueue>(
      engine::SharedReceiveQueueConfig{.device = &context.device.resources(),
                                       .pd = pd,
                                       .ring = {.slots = slots.data(),
                                                .posted = posted.data(),
                                                .slot_count = count,
                                                .slot_size = kSlotSize,
                                                .producer = &indices.producer},
                                       .async_events = &context.async_events.device_end(),
                                       .user_handle = kUserHandle,
                                       .xrc_domain = domain,
                                       .cq = cq,
                                       .several_processes = &context.several_processes});
}

void SharedReceivesEnd::write(std::uint32_t slot, std::span<const abi::ScatterGather> sges) {
  std::byte* const place = slots.data() + std::size_t{slot} * kSlotSize;
  const abi::ReceiveWqe head{.sge_count = static_cast<std::uint32_t>(sges.size()), .reserved = {}};
  std::memcpy(place, &head, sizeof head);
  if (!sges.empty()) std::memcpy(place + sizeof head, sges.data(), sges.size_bytes());
}

void SharedReceivesEnd::publish(std::uint32_t number) {
  const std::uint32_t producer = indices.producer.load();
  posted[producer & (slot_count - 1)] = number;
  indices.producer.store(producer + 1, std::memory_order_release);
}

void SharedReceivesEnd::post(std::uint32_t slot, std::span<const abi::ScatterGather> sges) {
  write(slot, sges);
  publish(slot);
}

}  // namespace urnic::in_process
