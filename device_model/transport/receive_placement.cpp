#include "device_model/transport/receive_placement.hpp"

#include <algorithm>

namespace urnic::transport {

void ReceivePlacement::reset() {
  under_way_ = false;
  next_index_ = 0;
  last_reported_ = false;
}

bool ReceivePlacement::take() {
  if (under_way_) {  // by a packet that turned out to be a stranger's
    rewind();
    return true;
  }
  if (!shared_.config.receive_queue->next(current_)) return false;
  began();
  return true;
}

void ReceivePlacement::began() {
  under_way_ = true;
  next_index_ = current_.index + 1;
  rewind();
}

void ReceivePlacement::rewind() {
  sge_ = 0;
  sge_offset_ = 0;
  placed_ = 0;
  in_completion_ = {};
}

void ReceivePlacement::lose() {
  under_way_ = false;
  current_.malformed = true;
  current_.sges = {};
  current_.length = 0;
}

// The program copies the bytes to the addresses in its WQE. Only the host can write to a region with other
// addresses (zero-based, or registered with an address of the program's choice).
bool ReceivePlacement::leave_to_completion(std::span<const std::byte> data) {
  const QpConfig& config = shared_.config;
  if (data.empty() || current_.malformed || data.size() > current_.length) return false;
  if (data.size() > config.host->completion_room()) return false;
  const PdId pd = current_.pd.value_or(config.pd);
  auto left = static_cast<std::uint32_t>(data.size());
  for (const Sge& sge : current_.sges) {
    const std::uint32_t piece = std::min(left, sge.length);
    if (piece == 0) continue;
    MemoryRange range;
    if (config.keys->check_local(sge.lkey, pd, sge.address, piece, AccessRight::local_write, range) !=
            KeyCheck::ok ||
        !range.owner_only || range.address != sge.address) {
      return false;
    }
    left -= piece;
    if (left == 0) break;
  }
  if (left != 0) return false;
  placed_ = data.size();
  in_completion_ = data;
  return true;
}

WorkStatus ReceivePlacement::place(std::span<const std::byte> data, bool end, wire::Psn psn) {
  if (current_.malformed) return WorkStatus::local_qp_operation_error;
  if (data.size() > current_.length - placed_) return WorkStatus::local_length_error;
  const QpConfig& config = shared_.config;
  const PdId pd = current_.pd.value_or(config.pd);
  const AccessTag tag{
      .stream = Stream::responder, .psn = psn, .wqe_index = current_.index, .places_send = true};
  while (!data.empty() && sge_ < current_.sges.size()) {
    const Sge& sge = current_.sges[sge_];
    const auto piece =
        static_cast<std::uint32_t>(std::min<std::size_t>(data.size(), sge.length - sge_offset_));
    if (piece > 0) {
      MemoryRange range;
      if (config.keys->check_local(sge.lkey, pd, sge.address + sge_offset_, piece, AccessRight::local_write,
                                   range) != KeyCheck::ok) {
        return WorkStatus::local_protection_error;
      }
      config.host->write(range, data.first(piece), end && piece == data.size(), tag);
      data = data.subspan(piece);
      placed_ += piece;
      sge_offset_ += piece;
    }
    if (sge_offset_ == sge.length) {
      ++sge_;
      sge_offset_ = 0;
    }
  }
  // The host gave a `length` that exceeds its SGEs.
  return data.empty() ? WorkStatus::success : WorkStatus::local_length_error;
}

void ReceivePlacement::complete(Completion completion) {
  complete(completion, shared_.parameters.destination);
}

void ReceivePlacement::complete(Completion completion, wire::Qpn source) {
  completion.qpn = shared_.config.qpn;
  completion.source = source;
  completion.receive = true;
  completion.wqe_index = current_.index;
  completion.data = in_completion_;
  under_way_ = false;
  shared_.config.host->complete(completion, Stream::responder);
  shared_.config.receive_queue->retire(current_.index);
}

void ReceivePlacement::complete_write(std::uint32_t length, const wire::TransportHeaders& headers) {
  Completion completion;
  completion.opcode = CompletionOpcode::receive_rdma_with_immediate;
  completion.byte_length = length;
  completion.with_immediate = true;
  completion.immediate = headers.immediate;
  completion.solicited = headers.bth.solicited;
  complete(completion);
}

void ReceivePlacement::complete_in_error(WorkStatus status) {
  under_way_ = false;
  emit_error(current_.index, status);
  shared_.config.receive_queue->retire(current_.index);
}

void ReceivePlacement::emit_error(std::uint32_t index, WorkStatus status) {
  Counters& counters = *shared_.config.counters;
  ++counters.responder_cqe_errors;
  counters.responder_flushed += status == WorkStatus::flushed;
  Completion completion;
  completion.qpn = shared_.config.qpn;
  completion.wqe_index = index;
  completion.receive = true;
  completion.opcode = CompletionOpcode::receive;
  completion.status = status;
  completion.source = shared_.parameters.destination;
  completion.solicited = true;
  shared_.config.host->complete(completion, Stream::responder);
}

void ReceivePlacement::flush() {
  if (under_way_) complete_in_error(WorkStatus::flushed);
  if (shared_.config.shared_receive_queue) return report_last();
  while (take()) complete_in_error(WorkStatus::flushed);
}

// IBTA 10.3.1, 11.6.3.1: the consumer may then destroy the QP without losing a WQE of the SRQ.
void ReceivePlacement::report_last() {
  if (last_reported_ || shared_.config.xrc_receives != nullptr) return;
  last_reported_ = true;
  shared_.config.host->event(AsyncEvent::last_wqe_reached);
}

void ReceivePlacement::complete_discarded(std::uint32_t first, WorkStatus status) {
  const std::uint32_t count = next_index_ - first;
  if (count > shared_.config.receive_slots) return;  // of a life before the last reset
  for (std::uint32_t i = 0; i < count; ++i) {
    emit_error(first + i, i == 0 ? status : WorkStatus::flushed);
  }
  if (under_way_) shared_.config.receive_queue->retire(current_.index);
  under_way_ = false;
}

}  // namespace urnic::transport
