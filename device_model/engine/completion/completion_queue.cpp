#include "device_model/engine/completion/completion_queue.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "device_model/engine/completion/event_pipe.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint32_t kEventCqError = 0;  // IBV_EVENT_CQ_ERR
constexpr std::uint32_t kArmKindMask = 3;

std::uint8_t flags_of(const transport::Completion& completion) {
  std::uint8_t flags = 0;
  if (completion.receive) flags |= abi::cqe_receive;
  if (completion.with_immediate) flags |= abi::cqe_with_immediate;
  if (completion.with_invalidate) flags |= abi::cqe_with_invalidate;
  if (completion.with_grh) flags |= abi::cqe_grh;
  if (completion.over_ipv6) flags |= abi::cqe_over_ipv6;
  return flags;
}

std::uint32_t immediate_or_rkey(const transport::Completion& completion) {
  if (!completion.with_immediate) return completion.invalidated.value;
  std::uint32_t value;
  std::memcpy(&value, completion.immediate.bytes.data(), sizeof value);
  return value;
}

}  // namespace

CompletionQueue::CompletionQueue(const CompletionQueueConfig& config) : config_(config) {}

// The first lap's entries are valid with phase 1 (queues.hpp, Cqe).
std::uint8_t CompletionQueue::phase(std::uint32_t index) const {
  return (index & config_.slots) == 0 ? 1 : 0;
}

bool CompletionQueue::full() {
  if (producer_ - consumer_ < config_.slots) return false;
  consumer_ = config_.indices->consumer.load(std::memory_order_acquire);
  return producer_ - consumer_ >= config_.slots;
}

// Where overrun is ignored, a NIC writes over unread CQEs (the bit `oi` of mlx5's CQ context). A program that
// reads one meanwhile would find parts of two; so here the newest completions are lost, not the oldest.
bool CompletionQueue::push(const transport::Completion& completion, std::uint32_t shared_receive_queue) {
  if (!overrun_ && !full()) [[likely]] {
    write(completion, shared_receive_queue);
  } else if (!config_.ignores_overrun) {
    report_overrun();
    return false;
  }
  ++unreported_;
  pushed_ = true;
  solicited_ |= completion.solicited;
  return true;
}

void CompletionQueue::write(const transport::Completion& completion, std::uint32_t shared_receive_queue) {
  abi::Cqe& entry = config_.ring[producer_ & (config_.slots - 1)];
  entry.qpn = completion.qpn.value;
  entry.wqe_index = completion.wqe_index;
  entry.opcode = static_cast<std::uint8_t>(completion.opcode);
  entry.status = static_cast<std::uint8_t>(completion.status);
  entry.flags = flags_of(completion);
  entry.byte_length = completion.byte_length;
  entry.immediate_or_rkey = immediate_or_rkey(completion);
  entry.vendor_error = completion.vendor_error;
  entry.source_qpn = completion.source.value;
  if (!completion.data.empty()) {
    entry.flags |= abi::cqe_inline;
    std::memcpy(entry.inline_data, completion.data.data(),
                std::min<std::size_t>(completion.data.size(), abi::kCqeInlineBytes));
  }
  if (config_.clock != nullptr) {
    entry.flags |= abi::cqe_timestamp;
    const std::uint64_t now = config_.clock();
    std::memcpy(entry.inline_data, &now, sizeof now);
  }
  if (shared_receive_queue != 0) {
    entry.flags |= abi::cqe_shared_receive;
    abi::set_shared_receive_queue(entry, shared_receive_queue);
  }
  entry.phase.store(phase(producer_), std::memory_order_release);
  ++producer_;
}

bool CompletionQueue::push_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                                  std::uint8_t flags, const abi::TagInfo& info) {
  if (!overrun_ && !full()) {
    abi::Cqe& entry = config_.ring[producer_ & (config_.slots - 1)];
    entry.tag_flags = flags;
    std::memcpy(entry.inline_data + abi::kTagInfoOffset, &info, sizeof info);
  }
  return push(completion, shared_receive_queue);
}

void CompletionQueue::report_overrun() {
  if (overrun_) return;
  overrun_ = true;
  if (config_.async_events == nullptr) return;
  ++async_events_;
  config_.async_events->push(source_.number(), config_.user_handle, kEventCqError);
}

// A program arms and then polls once more; the device adds a CQE and then reads the arm word. With a full
// fence on both sides at least one of them sees the other's write (ibv_req_notify_cq).
void CompletionQueue::notify(transport::Time now) {
  if (!pushed_) return;
  std::atomic_thread_fence(std::memory_order_seq_cst);
  const std::uint32_t arm = config_.indices->arm.load(std::memory_order_relaxed);
  const auto kind = static_cast<abi::ArmKind>(arm & kArmKindMask);
  const bool asked_for = kind == abi::ArmKind::next || (kind == abi::ArmKind::solicited && solicited_);
  pushed_ = false;
  solicited_ = false;
  if (arm == arm_fired_) {
    unreported_ = 0;
    return;
  }
  if ((asked_for || event_due_) && !put_off(now)) raise(arm);
}

bool CompletionQueue::put_off(transport::Time now) {
  if (moderation_.count < 2 || moderation_.period.count() == 0) return false;
  if (!event_due_) event_due_ = now + moderation_.period;
  return unreported_ < moderation_.count && now < *event_due_;
}

void CompletionQueue::notify_late() { raise(config_.indices->arm.load(std::memory_order_relaxed)); }

void CompletionQueue::moderate(const CqModeration& moderation) {
  moderation_ = moderation;
  if (event_due_) event_due_ = transport::Time{};
}

void CompletionQueue::raise(std::uint32_t arm) {
  event_due_.reset();
  unreported_ = 0;
  arm_fired_ = arm;
  config_.indices->arm_fired.store(arm, std::memory_order_release);
  if (config_.channel == nullptr) return;
  ++completion_events_;
  config_.channel->push(source_.number(), config_.user_handle);
}

// Trusts the program's consumer index within the bounds of the old ring.
void CompletionQueue::begin_move(abi::Cqe* ring, std::uint32_t slots) {
  const std::uint32_t consumer = config_.indices->consumer.load(std::memory_order_acquire);
  const std::uint32_t begin = producer_ - std::min(producer_ - consumer, config_.slots);
  new_ring_ = {ring, slots, begin, begin};
}

CompletionQueue::Moved CompletionQueue::move(std::uint32_t most) {
  const std::uint32_t unread = producer_ - new_ring_.begin;
  if (unread > new_ring_.slots) return Moved::does_not_fit;
  for (; new_ring_.next != producer_ && most > 0; ++new_ring_.next, --most) {
    const abi::Cqe& from = config_.ring[new_ring_.next & (config_.slots - 1)];
    abi::Cqe& to = new_ring_.ring[new_ring_.next - new_ring_.begin];
    std::memcpy(static_cast<void*>(&to), static_cast<const void*>(&from), offsetof(abi::Cqe, phase));
    to.phase.store(1, std::memory_order_release);
  }
  if (new_ring_.next != producer_) return Moved::more;
  config_.ring = new_ring_.ring;
  config_.slots = new_ring_.slots;
  producer_ = unread;
  consumer_ = 0;
  config_.indices->consumer.store(0, std::memory_order_release);
  return Moved::all;
}

}  // namespace urnic::engine
