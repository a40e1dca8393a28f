// SEND and RDMA WRITE at the responder (IBTA 9.7.4.1, 9.4.1, 9.4.3).
#include "device_model/transport/responder/responder.hpp"

namespace urnic::transport {

using wire::NakCode;
using wire::Operation;

std::optional<Responder::Refusal> Responder::execute_send(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  if (traits.first) {
    if (!receives_.take()) {
      if (shared_.config.tagged_receives != nullptr) return execute_tagged_send(packet);
      receiver_not_ready();
      return std::nullopt;
    }
    ++shared_.config.counters->received_send_requests;
  }
  if (traits.first && traits.last && receives_.leave_to_completion(packet.payload))
    return finish_send(packet);
  return place_send(packet, packet.payload);
}

std::optional<Responder::Refusal> Responder::place_send(const InboundPacket& packet,
                                                        std::span<const std::byte> data) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  const WorkStatus status = receives_.place(data, traits.last, bth.psn);
  if (status == WorkStatus::local_length_error) return Refusal{NakCode::invalid_request, status, {}};
  if (status != WorkStatus::success) return Refusal{NakCode::remote_operational_error, status, {}};
  if (traits.last) return finish_send(packet);
  executed(bth, traits, MessageUnderWay::send);
  return std::nullopt;
}

std::optional<Responder::Refusal> Responder::finish_send(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  const QpConfig& config = shared_.config;
  const bool invalidate = (traits.headers & wire::has_ieth) != 0;
  executed(bth, traits, MessageUnderWay::none);
  if (invalidate && config.keys->invalidate(packet.headers.invalidate, pd_, config.qpn) != KeyCheck::ok) {
    // Class J (IBTA 9.9.3): the message itself was good and is acknowledged; this side's receive and QP
    // are in error.
    owed_.ack(bth.psn);
    receives_.complete_in_error(WorkStatus::remote_invalid_request_error);
    stop();
    return std::nullopt;
  }
  Completion completion;
  completion.opcode = CompletionOpcode::receive;
  completion.byte_length = static_cast<std::uint32_t>(receives_.placed());
  completion.with_immediate = (traits.headers & wire::has_immediate) != 0;
  completion.immediate = packet.headers.immediate;
  completion.with_invalidate = invalidate;
  completion.invalidated = packet.headers.invalidate;
  completion.solicited = bth.solicited;
  receives_.complete(completion);
  return std::nullopt;
}

std::optional<Responder::Refusal> Responder::execute_write(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const wire::OpcodeTraits& traits = wire::traits(bth.opcode);
  const bool immediate = is_write_with_immediate(bth.opcode.operation());
  // The receive is taken before the data is written: an RNR NAK promises that nothing was done.
  if (immediate && !receives_.take() && !receives_.take_untagged()) {
    receiver_not_ready();
    return std::nullopt;
  }
  if (traits.first) {
    write_address_ = packet.headers.reth.virtual_address;
    write_rkey_ = packet.headers.reth.rkey;
    write_length_ = write_remaining_ = packet.headers.reth.dma_length;
    ++shared_.config.counters->received_write_requests;
  }
  if (immediate && receives_.malformed()) {
    return Refusal{NakCode::remote_operational_error, WorkStatus::local_qp_operation_error, {}};
  }
  if (std::optional<Refusal> verdict = place_write(packet)) return verdict;
  executed(bth, traits, MessageUnderWay::write);
  if (immediate) receives_.complete_write(write_length_, packet.headers);
  return std::nullopt;
}

// The R_Key is checked at every packet, for all that the message has still to write (IBTA 9.7.4.1.5). A
// message without data needs no valid one.
std::optional<Responder::Refusal> Responder::place_write(const InboundPacket& packet) {
  const wire::Bth& bth = packet.headers.bth;
  const bool last = wire::traits(bth.opcode).last;
  const QpConfig& config = shared_.config;
  const auto payload = static_cast<std::uint32_t>(packet.payload.size());
  if (write_length_ > kMaxRdmaLength) return length_error();
  MemoryRange range;
  if (write_length_ > 0 &&
      config.keys->check_remote(write_rkey_, pd_, config.qpn, write_address_, write_remaining_,
                                AccessRight::remote_write, range) != KeyCheck::ok) {
    return access_error();
  }
  // The last packet brings exactly what is missing, an earlier one leaves something for it (IBTA 9.7.4.1.6).
  if (last ? payload != write_remaining_ : payload >= write_remaining_) return length_error();
  if (payload > 0) {
    range.length = payload;
    config.host->write(range, packet.payload, last, tag(bth.psn));
  }
  write_address_ += payload;
  write_remaining_ -= payload;
  return std::nullopt;
}

}  // namespace urnic::transport
