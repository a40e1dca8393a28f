#include "device_model/transport/unreliable/unreliable_queue_pair.hpp"

#include "device_model/transport/local_operation.hpp"
#include "device_model/transport/message_memory.hpp"

namespace urnic::transport {

UnreliableQueuePair::UnreliableQueuePair(const QpConfig& config)
    : shared_{.config = config, .parameters = {}}, receives_(shared_) {}

void UnreliableQueuePair::modify(QpState state, const QpParameters& parameters, bool notify_drained) {
  const QpState from = shared_.state;
  shared_.parameters = parameters;
  shared_.state = state;
  notify_drained_ = state == QpState::sqd && (notify_drained || (from == state && notify_drained_));
  switch (state) {
    case QpState::reset:
      return reset();
    case QpState::error:
      return enter_error();
    case QpState::rtr:
      return start_receiving();
    case QpState::rts:
      if (from == QpState::rtr) start_sending();
      return;
    case QpState::sqd:
      return raise_drained();
    case QpState::init:
    case QpState::sqe:
      return;
  }
}

void UnreliableQueuePair::reset() {
  receives_.reset();
  sending_ = false;
  next_index_ = 0;
}

void UnreliableQueuePair::raise_drained() {
  if (!notify_drained_ || sending_) return;
  notify_drained_ = false;
  shared_.config.host->event(AsyncEvent::send_queue_drained);
}

void UnreliableQueuePair::enter_error() {
  shared_.state = QpState::error;
  notify_drained_ = false;
  flush_sends();
  receives_.flush();
}

void UnreliableQueuePair::doorbell() {
  // Work requests that are posted in an error state complete with flushed (IBTA 10.3.1.6, 10.3.1.7).
  if (shared_.state == QpState::sqe || shared_.state == QpState::error) flush_sends();
  if (shared_.state == QpState::error) receives_.flush();
}

void UnreliableQueuePair::receive(const InboundPacket& packet) {
  if (takes_requests(shared_.state)) take_packet(packet);
}

bool UnreliableQueuePair::wants_pump() const {
  if (shared_.state == QpState::rts) return sending_ || shared_.config.send_queue->pending();
  return shared_.state == QpState::sqd && sending_;
}

std::uint32_t UnreliableQueuePair::pump(Time now, std::uint32_t packets) {
  std::uint32_t sent = 0;
  while (sent < packets && wants_pump() && pace_.may_send(now)) {
    if (!sending_ && !take_request()) continue;
    const WorkStatus status = send_packet(request_, next_packet_, packet_count_, now);
    if (status != WorkStatus::success) {
      fail_send(status);
      break;
    }
    ++sent;
    if (++next_packet_ == packet_count_) finish_request();
  }
  raise_drained();
  return sent;
}

// False: there was none, or it was wrong, or needs no packet and is complete.
bool UnreliableQueuePair::take_request() {
  if (!shared_.config.send_queue->next(request_)) return false;
  sending_ = true;
  next_index_ = request_.index + 1;
  next_packet_ = 0;
  const WorkStatus status = check_taken();
  if (status != WorkStatus::success) {
    fail_send(status);
    return false;
  }
  if (is_local(request_.opcode)) {
    execute_local();
    return false;
  }
  packet_count_ = packets_of(request_);
  return true;
}

WorkStatus UnreliableQueuePair::check_taken() const {
  if (request_.malformed) return WorkStatus::local_qp_operation_error;
  return request_.is_idle ? WorkStatus::success : check(request_);
}

void UnreliableQueuePair::execute_local() {
  if (carry_out_locally(request_, shared_.config) == KeyCheck::ok) {
    finish_request();
  } else {
    fail_send(WorkStatus::memory_window_bind_error);
  }
}

WorkStatus UnreliableQueuePair::send_with_payload(OutboundPacket& packet, const SendRequest& request,
                                                  std::uint64_t offset, std::uint32_t length, Time now) {
  const QpConfig& config = shared_.config;
  packet.tag = {.stream = Stream::requester, .psn = packet.headers.bth.psn, .wqe_index = request.index};
  RangeList ranges;
  const bool mapped = request.is_inline
                          ? map_both(request, offset, length, *config.keys, config.pd, packet.bytes, ranges)
                          : map_message(request.sges, offset, length, AccessRight::local_read, *config.keys,
                                        config.pd, ranges);
  if (!mapped) return WorkStatus::local_protection_error;
  packet.gather = ranges.ranges();
  config.host->send(packet);
  if (pace_.is_limited()) pace_.sent(now, config.host->frame_bytes(packet));
  return WorkStatus::success;
}

// IBTA 9.8: a request is complete when its last packet has been handed to the wire.
void UnreliableQueuePair::finish_request() {
  sending_ = false;
  if (request_.signaled) complete_send(request_.index, WorkStatus::success);
  shared_.config.send_queue->retire(request_.index);
}

// An error of a send request stops the send queue alone, until the program has modified the QP to RTS
// (IBTA 10.3.1.6).
void UnreliableQueuePair::fail_send(WorkStatus status) {
  sending_ = false;
  complete_send(request_.index, status);
  shared_.config.send_queue->retire(request_.index);
  shared_.state = QpState::sqe;
  notify_drained_ = false;
  flush_sends();
}

void UnreliableQueuePair::complete_send(std::uint32_t index, WorkStatus status) {
  counters().requester_cqe_errors += status != WorkStatus::success;
  counters().requester_flushed += status == WorkStatus::flushed;
  Completion completion;
  completion.qpn = shared_.config.qpn;
  completion.wqe_index = index;
  completion.opcode = completion_opcode(request_.opcode);
  completion.status = status;
  completion.solicited = status != WorkStatus::success;
  shared_.config.host->complete(completion, Stream::requester);
}

void UnreliableQueuePair::flush_sends() {
  SendQueue& queue = *shared_.config.send_queue;
  while (sending_ || queue.next(request_)) {
    sending_ = false;
    next_index_ = request_.index + 1;
    complete_send(request_.index, WorkStatus::flushed);
    queue.retire(request_.index);
  }
}

bool UnreliableQueuePair::have_receive() {
  if (receives_.under_way() || receives_.take()) return true;
  ++counters().messages_without_receive;
  return false;
}

bool UnreliableQueuePair::receive_whole(std::span<const std::byte> front, std::span<const std::byte> data,
                                        wire::Psn psn) {
  if (!have_receive()) return false;
  const WorkStatus status = place_whole(front, data, psn);
  if (status == WorkStatus::success) {
    ++counters().received_send_requests;
  } else if (status == WorkStatus::local_length_error) {
    // Nothing was placed: the receive stays for a message that fits.
    ++counters().responder_local_length_errors;
  } else {
    fail_receive(status);
  }
  return status == WorkStatus::success;
}

WorkStatus UnreliableQueuePair::place_whole(std::span<const std::byte> front, std::span<const std::byte> data,
                                            wire::Psn psn) {
  if (receives_.malformed()) return WorkStatus::local_qp_operation_error;
  if (front.size() + data.size() > receives_.length()) return WorkStatus::local_length_error;
  const WorkStatus status = receives_.place(front, data.empty(), psn);
  return status == WorkStatus::success ? receives_.place(data, true, psn) : status;
}

void UnreliableQueuePair::fail_receive(WorkStatus status) {
  receives_.complete_in_error(status);
  enter_error();
}

// The host has discarded everything behind the failed access (host.hpp): what was reported of those requests
// is reported anew, the first of them with the error.
void UnreliableQueuePair::memory_failed(const AccessTag& tag) {
  if (shared_.state == QpState::reset || shared_.state == QpState::init) return;
  if (tag.stream == Stream::responder) {
    receives_.complete_discarded(tag.wqe_index,
                                 tag.places_send ? WorkStatus::local_protection_error : WorkStatus::flushed);
    if (!tag.places_send) shared_.config.host->event(AsyncEvent::qp_access_error);
    return enter_error();
  }
  const std::uint32_t count = next_index_ - tag.wqe_index;
  if (count > shared_.config.send_slots) return;  // of a life before the last reset
  for (std::uint32_t i = 0; i < count; ++i) {
    complete_send(tag.wqe_index + i, i == 0 ? WorkStatus::local_protection_error : WorkStatus::flushed);
    shared_.config.send_queue->retire(tag.wqe_index + i);
  }
  sending_ = false;
  if (shared_.state != QpState::error) shared_.state = QpState::sqe;
  flush_sends();
}

}  // namespace urnic::transport
