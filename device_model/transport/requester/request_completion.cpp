// Completions: in order, one for each request that is signaled or fails (IBTA 10.8.3.1, 9.9.2.1). When the
// host reports a failed memory access, the actions that it has discarded are done again.
#include <algorithm>

#include "device_model/transport/requester/requester.hpp"

namespace urnic::transport {

void Requester::complete_finished() {
  while (!shared_.failed && !window_.none_incomplete()) {
    const SendSlot& slot = window_.at(window_.oldest());
    if (slot.status != WorkStatus::success) {
      // Its error waited until all earlier requests were complete (IBTA 9.9.2.1).
      complete_oldest();
      shared_.failed = true;
      return;
    }
    if (window_.oldest() == window_.sending() || unacknowledged_ < slot.end()) return;
    reads_.completed(slot.request);
    complete_oldest();
  }
}

void Requester::complete_oldest() {
  const std::uint32_t index = window_.oldest();
  SendSlot& slot = window_.at(index);
  const SendRequest& request = slot.request;
  slot.completion = ++action_;
  window_.completed_oldest();
  shared_.config.send_queue->retire(index);
  const bool failed = slot.status != WorkStatus::success;
  if (!failed && !request.signaled) return;
  Counters& counters = *shared_.config.counters;
  counters.requester_cqe_errors += failed;
  counters.requester_flushed += slot.status == WorkStatus::flushed;
  Completion completion;
  completion.qpn = shared_.config.qpn;
  completion.wqe_index = index;
  completion.opcode = completion_opcode(request.opcode);
  completion.status = slot.status;
  completion.solicited = failed;
  if (!failed && is_read_or_atomic(request.opcode)) {
    completion.byte_length = static_cast<std::uint32_t>(request.length);
  }
  shared_.config.host->complete(completion, Stream::requester);
}

void Requester::fail_oldest(WorkStatus status) {
  window_.at(window_.oldest()).status = status;
  complete_finished();
}

// An error on this side: nothing from this request on is sent any more; earlier requests complete first.
void Requester::fail_here(std::uint32_t index, WorkStatus status) {
  SendSlot& slot = window_.at(index);
  slot.status = status;
  const PacketNumber end = std::max(unacknowledged_, std::min(slot.first, next_new_));
  cut_end_ = std::max(cut_end_, next_new_);
  next_new_ = end;
  response_expected_until_ = std::min(response_expected_until_, end);
  recovery_->truncate(end);
  if (control_ != nullptr) control_->truncate(end);
  window_.stop_sending_at(index);
  flow_control_.truncate(end);
  if (!response_expected()) ack_timer_.stop();
  complete_finished();
}

void Requester::flush() {
  ack_timer_.stop();
  rnr_wait_.end();
  flow_control_.stop_timer();
  SendQueue& queue = *shared_.config.send_queue;
  while (true) {
    while (!window_.none_incomplete()) {
      window_.at(window_.oldest()).status = WorkStatus::flushed;
      complete_oldest();
    }
    if (window_.take(queue) == nullptr) break;
  }
}

void Requester::memory_failed(const AccessTag& tag) {
  while (window_.any_undoable() && discarded(window_.at(window_.oldest() - 1).completion, tag)) {
    window_.undo_completion();
  }
  if (running()) {
    redo_running_queue(tag);
  } else {
    redo_failed_queue(tag);
  }
}

// All requests are reported already, as failed or flushed. Reports the discarded completions again: the
// request of the failed access with its own error, unless an earlier request failed.
void Requester::redo_failed_queue(const AccessTag& tag) {
  bool after_error = false;
  while (!window_.none_incomplete()) {
    const std::uint32_t index = window_.oldest();
    SendSlot& slot = window_.at(index);
    const bool data_lost = slot.last_write != 0 && discarded(slot.last_write, tag);
    if (after_error || (slot.status == WorkStatus::success && index != tag.wqe_index && data_lost)) {
      slot.status = WorkStatus::flushed;
    } else if (slot.status == WorkStatus::success && index == tag.wqe_index) {
      slot.status = WorkStatus::local_protection_error;
    }
    after_error = slot.status != WorkStatus::success;
    complete_oldest();
  }
}

// Requests before the failed one finish first: READs whose data was discarded are repeated, and packets that
// did not leave are sent again.
void Requester::redo_running_queue(const AccessTag& tag) {
  bool send_again = false;
  for (std::uint32_t index = window_.oldest(); index != window_.taken() && index != tag.wqe_index; ++index) {
    const SendSlot& slot = window_.at(index);
    const bool data_lost = slot.last_write != 0 && discarded(slot.last_write, tag);
    if (data_lost) unacknowledged_ = std::min(unacknowledged_, slot.first);
    send_again = send_again || data_lost || (slot.last_send != 0 && discarded(slot.last_send, tag));
  }
  if (window_.holds_incomplete(tag.wqe_index)) {
    fail_here(tag.wqe_index, WorkStatus::local_protection_error);
  }
  if (send_again) {
    executed_until_ = std::min(executed_until_, unacknowledged_);
    recovery_->discarded(unacknowledged_);
    if (control_ != nullptr) control_->discarded(unacknowledged_);
  }
  reads_.recount(window_, unacknowledged_);
  complete_finished();
}

}  // namespace urnic::transport
