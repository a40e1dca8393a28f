// Completions: in order, one for each request that wants one or fails (IBTA 10.8.3.1, 9.9.2.1). And what must
// be done again when the host reports a failed memory access and has discarded what came after it.
#include <algorithm>

#include "device_model/transport/requester_impl.hpp"

namespace urnic::transport {
namespace {

CompletionOpcode completion_opcode(WorkOpcode opcode) {
  switch (opcode) {
    case WorkOpcode::rdma_write:
    case WorkOpcode::rdma_write_with_immediate:
      return CompletionOpcode::rdma_write;
    case WorkOpcode::rdma_read:
      return CompletionOpcode::rdma_read;
    case WorkOpcode::atomic_compare_swap:
      return CompletionOpcode::compare_swap;
    case WorkOpcode::atomic_fetch_add:
      return CompletionOpcode::fetch_add;
    case WorkOpcode::local_invalidate:
      return CompletionOpcode::local_invalidate;
    case WorkOpcode::bind_memory_window:
      return CompletionOpcode::bind_memory_window;
    case WorkOpcode::send:
    case WorkOpcode::send_with_immediate:
    case WorkOpcode::send_with_invalidate:
      break;
  }
  return CompletionOpcode::send;
}

}  // namespace

void Requester::Impl::complete_finished() {
  while (!shared.failed && !window.none_incomplete()) {
    const SendSlot& slot = window.at(window.oldest());
    if (slot.status != WorkStatus::success) {
      // Reported only now, because everything before it had to complete first (IBTA 9.9.2.1).
      complete_oldest();
      shared.failed = true;
      return;
    }
    if (window.oldest() == window.sending() || unacknowledged < slot.end()) return;
    if (is_read_or_atomic(slot.request.opcode)) --reads_under_way;
    complete_oldest();
  }
}

void Requester::Impl::complete_oldest() {
  const std::uint32_t index = window.oldest();
  SendSlot& slot = window.at(index);
  const SendRequest& request = slot.request;
  slot.completion = ++action;
  window.completed_oldest();
  shared.config.send_queue->retire(index);
  const bool failed = slot.status != WorkStatus::success;
  if (!failed && !request.signaled) return;
  Counters& counters = *shared.config.counters;
  if (slot.status == WorkStatus::flushed) {
    ++counters.requester_flushed;
  } else if (failed) {
    ++counters.requester_cqe_errors;
  }
  Completion completion;
  completion.qpn = shared.config.qpn;
  completion.wqe_index = index;
  completion.opcode = completion_opcode(request.opcode);
  completion.status = slot.status;
  completion.solicited = failed;
  if (!failed && is_read_or_atomic(request.opcode)) {
    completion.byte_length = static_cast<std::uint32_t>(request.length);
  }
  shared.config.host->complete(completion, Stream::requester);
}

void Requester::Impl::fail_oldest(WorkStatus status) {
  window.at(window.oldest()).status = status;
  complete_finished();
}

// An error on this side: nothing of the request or behind it is sent any more, what is before it completes
// first.
void Requester::Impl::fail_here(std::uint32_t index, WorkStatus status) {
  SendSlot& slot = window.at(index);
  slot.status = status;
  const PacketNumber end = std::max(unacknowledged, std::min(slot.first, next_new));
  cut_end = std::max(cut_end, next_new);
  next_new = end;
  response_expected_until = std::min(response_expected_until, end);
  recovery->truncate(end);
  window.stop_sending_at(index);
  if (probe && probe->packet >= end) probe.reset();
  if (!response_expected()) ack_timer.stop();
  complete_finished();
}

void Requester::Impl::flush() {
  ack_timer.stop();
  rnr_until.reset();
  SendQueue& queue = *shared.config.send_queue;
  while (true) {
    while (!window.none_incomplete()) {
      window.at(window.oldest()).status = WorkStatus::flushed;
      complete_oldest();
    }
    if (window.take(queue) == nullptr) break;
  }
}

void Requester::Impl::memory_failed(const AccessTag& tag, Time) {
  while (window.any_undoable() && discarded(window.at(window.oldest() - 1).completion, tag)) {
    window.undo_completion();
  }
  if (running()) {
    redo_running_queue(tag);
  } else {
    redo_failed_queue(tag);
  }
}

// Everything was reported already, errors and flushes: report again what was discarded, the failed request
// with its own error unless one before it came first.
void Requester::Impl::redo_failed_queue(const AccessTag& tag) {
  bool after_error = false;
  while (!window.none_incomplete()) {
    const std::uint32_t index = window.oldest();
    SendSlot& slot = window.at(index);
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

// Requests before the failed one finish first: READs whose data was discarded are asked for again, packets
// that did not leave are sent again.
void Requester::Impl::redo_running_queue(const AccessTag& tag) {
  bool send_again = false;
  for (std::uint32_t index = window.oldest(); index != window.taken() && index != tag.wqe_index; ++index) {
    const SendSlot& slot = window.at(index);
    const bool data_lost = slot.last_write != 0 && discarded(slot.last_write, tag);
    if (data_lost) unacknowledged = std::min(unacknowledged, slot.first);
    send_again = send_again || data_lost || (slot.last_send != 0 && discarded(slot.last_send, tag));
  }
  if (window.holds_incomplete(tag.wqe_index)) {
    fail_here(tag.wqe_index, WorkStatus::local_protection_error);
  }
  if (send_again) {
    executed_until = std::min(executed_until, unacknowledged);
    recovery->discarded(unacknowledged);
  }
  recount_reads();
  complete_finished();
}

void Requester::Impl::recount_reads() {
  reads_under_way = 0;
  for (std::uint32_t index = window.oldest(); index != window.sending(); ++index) {
    const SendSlot& slot = window.at(index);
    if (is_read_or_atomic(slot.request.opcode) && unacknowledged < slot.end()) ++reads_under_way;
  }
}

}  // namespace urnic::transport
