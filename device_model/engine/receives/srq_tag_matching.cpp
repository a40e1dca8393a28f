#include "device_model/engine/receives/srq_tag_matching.hpp"

#include <cstddef>
#include <cstring>

#include "device_model/engine/device/device_resources.hpp"
#include "device_model/engine/receives/shared_receive_queue.hpp"
#include "device_model/engine/round/round.hpp"

namespace urnic::engine {

using transport::CompletionOpcode;
using transport::WorkStatus;

TagMatching::TagMatching(const TagMatchingConfig& config)
    : config_(config), buffers_(config.max_tags, abi::kMaxTagSge), messages_(config.max_tags) {}

bool TagMatching::look() {
  if (config_.queue->broken()) return false;
  const std::uint32_t producer = config_.indices->producer.load(std::memory_order_acquire);
  if (producer - consumed_ > config_.slots) {
    config_.queue->break_down();
    return false;
  }
  producer_ = producer;
  return true;
}

void TagMatching::doorbell() {
  if (!look()) return;
  while (consumed_ != producer_ && !config_.queue->broken()) {
    carry_out(consumed_++);
    config_.indices->consumed.store(consumed_, std::memory_order_release);
  }
}

void TagMatching::carry_out(std::uint32_t index) {
  abi::TagOperation operation;
  std::memcpy(&operation, &config_.operations[index & (config_.slots - 1)],
              offsetof(abi::TagOperation, sges));
  forget_shared_memory();
  if ((operation.flags & abi::tag_operation_sync) != 0) {
    told_ = operation.unexpected_count;
    follow();
  }
  transport::Completion completion;
  if (!apply(operation, index, completion)) {
    config_.queue->break_down();
    return;
  }
  if ((operation.flags & abi::tag_operation_signaled) == 0) return;
  completion.wqe_index = index;
  if (!report(completion, flags_after(operation))) config_.queue->break_down();
}

// False: the operation is impossible, the program's fault.
bool TagMatching::apply(const abi::TagOperation& operation, std::uint32_t index,
                        transport::Completion& completion) {
  abi::TagOperation& slot = config_.operations[index & (config_.slots - 1)];
  switch (static_cast<abi::TagOpcode>(operation.opcode)) {
    case abi::TagOpcode::add:
      completion.opcode = CompletionOpcode::tag_add;
      return buffers_.add(operation.entry, operation.tag, operation.mask,
                          reinterpret_cast<const std::byte*>(slot.sges), operation.sge_count, !in_step());
    case abi::TagOpcode::remove: {
      const bool removed = buffers_.remove(operation.entry);
      slot.removed = removed ? 1 : 0;
      completion.opcode = CompletionOpcode::tag_remove;
      if (!removed) completion.status = WorkStatus::tag_matching_error;
      return true;
    }
    case abi::TagOpcode::sync:
      completion.opcode = CompletionOpcode::tag_sync;
      return true;
  }
  return false;
}

// A message still on its way asks for a sync itself, once it arrives (unexpected_arrives): an earlier sync
// would not help.
std::uint8_t TagMatching::flags_after(const abi::TagOperation& operation) const {
  const bool is_sync = operation.opcode == static_cast<std::uint8_t>(abi::TagOpcode::sync);
  const bool asks = is_sync ? told_ != reported_ : !in_step();
  return asks ? abi::tag_sync_required : 0;
}

std::optional<std::uint32_t> TagMatching::match(std::uint64_t tag) {
  doorbell();
  return buffers_.match(tag);
}

std::uint8_t TagMatching::unexpected_arrives() {
  --on_their_way_;
  ++reported_;
  follow();
  return buffers_.any_waiting() ? abi::tag_sync_required : 0;
}

void TagMatching::unexpected_failed() {
  --on_their_way_;
  follow();
}

bool TagMatching::report(const transport::Completion& completion, std::uint8_t flags,
                         const abi::TagInfo& info) {
  if ((flags & abi::tag_entry_done) != 0) buffers_.release(completion.wqe_index);
  Notifications& notifications = config_.queue->config().device->round.notifications();
  return notifications.complete_tagged(*config_.completions, completion, config_.queue->number(), flags,
                                       info);
}

}  // namespace urnic::engine
