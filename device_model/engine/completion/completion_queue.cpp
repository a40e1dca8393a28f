#include "device_model/engine/completion/completion_queue.hpp"

#include <atomic>

#include "device_model/engine/completion/event_pipe.hpp"

namespace urnic::engine {

namespace {

constexpr std::uint32_t kEventCqError = 0;  // IBV_EVENT_CQ_ERR

}  // namespace

CompletionQueue::CompletionQueue(const CompletionQueueConfig& config)
    : config_(config),
      own_({.ring = config.ring,
            .slots = config.slots,
            .indices = config.indices,
            .clock = config.clock,
            .may_lose = config.ignores_overrun}),
      entries_(config.entries != nullptr ? *config.entries : own_) {}

// Where overrun is ignored, a NIC writes over unread CQEs (the bit `oi` of mlx5's CQ context). A program that
// reads one meanwhile would find parts of two; so here the newest completions are lost, not the oldest.
bool CompletionQueue::added(const transport::Completion& completion, bool there_was_room) {
  if (!there_was_room && !config_.ignores_overrun) [[unlikely]] {
    report_overrun();
    return false;
  }
  ++unreported_;
  pushed_ = true;
  solicited_ |= completion.solicited;
  return true;
}

bool CompletionQueue::push(const transport::Completion& completion, std::uint32_t shared_receive_queue) {
  return added(completion, !overrun_ && entries_.write(completion, shared_receive_queue));
}

bool CompletionQueue::push_tagged(const transport::Completion& completion, std::uint32_t shared_receive_queue,
                                  std::uint8_t flags, const abi::TagInfo& info) {
  return added(completion, !overrun_ && entries_.write_tagged(completion, shared_receive_queue, flags, info));
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
  const abi::ArmKind kind = entries_.armed();
  const bool asked_for = kind == abi::ArmKind::next || (kind == abi::ArmKind::solicited && solicited_);
  pushed_ = false;
  solicited_ = false;
  if (kind == abi::ArmKind::none) {
    unreported_ = 0;
    return;
  }
  if ((asked_for || event_due_) && !put_off(now)) raise();
}

bool CompletionQueue::catch_up() {
  if (!entries_.is_behind()) return false;
  pushed_ = solicited_ = true;
  return true;
}

bool CompletionQueue::put_off(transport::Time now) {
  if (moderation_.count < 2 || moderation_.period.count() == 0) return false;
  if (!event_due_) event_due_ = now + moderation_.period;
  return unreported_ < moderation_.count && now < *event_due_;
}

void CompletionQueue::notify_late() {
  entries_.armed();
  raise();
}

void CompletionQueue::moderate(const CqModeration& moderation) {
  moderation_ = moderation;
  if (event_due_) event_due_ = transport::Time{};
}

void CompletionQueue::raise() {
  event_due_.reset();
  unreported_ = 0;
  entries_.fired();
  // Before the program can know of the event, and ask for the next.
  if (gate_ != nullptr && entries_.wants_each_request()) gate_->close(place_);
  if (config_.channel == nullptr) return;
  ++completion_events_;
  config_.channel->push(source_.number(), config_.user_handle);
}

}  // namespace urnic::engine
