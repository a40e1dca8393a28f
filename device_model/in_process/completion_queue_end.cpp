#include "device_model/in_process/completion_queue_end.hpp"

#include <atomic>

namespace urnic::in_process {

CompletionQueueEnd::CompletionQueueEnd(std::uint32_t slot_count, engine::EventPipe* channel,
                                       engine::EventPipe* async_events, std::uint64_t user_handle)
    : ring(slot_count), slots(slot_count) {
  device_end =
      std::make_unique<engine::CompletionQueue>(engine::CompletionQueueConfig{.ring = ring.data(),
                                                                              .slots = slots,
                                                                              .indices = &indices,
                                                                              .user_handle = user_handle,
                                                                              .channel = channel,
                                                                              .async_events = async_events});
}

std::optional<PolledCompletion> CompletionQueueEnd::poll() {
  const abi::Cqe& entry = ring[consumer & (slots - 1)];
  const std::uint8_t valid = (consumer / slots) % 2 == 0 ? 1 : 0;
  if (entry.phase.load(std::memory_order_acquire) != valid) return std::nullopt;
  const PolledCompletion polled{.qpn = entry.qpn,
                                .wqe_index = entry.wqe_index,
                                .opcode = entry.opcode,
                                .status = entry.status,
                                .flags = entry.flags,
                                .tag_flags = entry.tag_flags,
                                .byte_length = entry.byte_length,
                                .immediate_or_rkey = entry.immediate_or_rkey,
                                .source_qpn = entry.source_qpn,
                                .error_or_route = entry.error_or_route,
                                .inline_data = std::to_array(entry.inline_data)};
  indices.consumer.store(++consumer, std::memory_order_release);
  return polled;
}

void CompletionQueueEnd::arm(abi::ArmKind kind) {
  indices.arm.store(++requests_ << 2 | static_cast<std::uint32_t>(kind));
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace urnic::in_process
