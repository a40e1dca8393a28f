// Response packets: READ responses and atomic acknowledges in the order of their requests, then the ACK or
// NAK that is owed (IBTA 9.7.5.1).
#include "device_model/transport/responder/responder.hpp"
#include "wire/transport_codec.hpp"

namespace urnic::transport {

using wire::Operation;

std::uint32_t Responder::pump(std::uint32_t packets) {
  std::uint32_t sent = pump_urgent(packets);
  for (; sent < packets && !responses_.empty(); ++sent) send_pending();
  if (responses_.empty()) sent += send_acknowledges(packets - sent);
  return sent;
}

std::uint32_t Responder::pump_urgent(std::uint32_t packets) {
  std::uint32_t sent = 0;
  if (packets > 0 && ack_passes_repeats()) {
    send_owed();
    ++sent;
  }
  for (; sent < packets && !responses_.empty() && responses_.front().is_repeat; ++sent) send_pending();
  if (responses_.empty()) sent += send_acknowledges(packets - sent);
  return sent;
}

// A requester that takes responses in any order may have asked again for much that it has by now: what it
// waits for is the acknowledgement behind that. Responses that it has never been sent come first all the same
// (IBTA 9.7.5.1), and a report stays behind: it would say that the repeats were lost.
bool Responder::ack_passes_repeats() const {
  return owed_.kind() == OwedAcknowledge::Kind::ack && reports_.empty() && !stopped_ &&
         gives_selective_acks() && !responses_.holds_original_until(owed_.psn());
}

// A report is a NAK for the expected PSN, so it acknowledges all that an ACK would, and asks for what a
// sequence NAK would ask for. An RNR NAK is no such thing: it comes first.
std::uint32_t Responder::send_acknowledges(std::uint32_t packets) {
  using Kind = OwedAcknowledge::Kind;
  std::uint32_t sent = 0;
  if (!reports_.empty() && !gives_selective_acks()) {  // the mode has changed
    reports_.clear();
    ask_for_expected();
  }
  while (sent < packets && owed_.kind() != Kind::rnr_nak) {
    const auto report = reports_.take(window_);
    if (!report) break;
    owed_.clear();
    send_report(*report);
    ++sent;
  }
  if (sent < packets && owed_.owed()) {
    send_owed();
    ++sent;
  }
  return sent;
}

// Sends one packet of the oldest response, or the NAK that it turns into.
void Responder::send_pending() {
  PendingResponse& response = responses_.front();
  if (response.atomic_original == nullptr) return send_read_response(response);
  shared_.config.host->send(
      {.headers = response_headers(Operation::atomic_acknowledge, response.next, ack_syndrome()),
       .bytes = {},
       .gather = {},
       .tag = tag(response.next),
       .atomic_original = response.atomic_original});
  responses_.pop_front();
}

namespace {

Operation read_response_operation(bool first, bool last) {
  if (first) return last ? Operation::read_response_only : Operation::read_response_first;
  return last ? Operation::read_response_last : Operation::read_response_middle;
}

}  // namespace

// The R_Key is checked again at every packet: the region may be gone since the request was accepted.
void Responder::send_read_response(PendingResponse& response) {
  const QpConfig& config = shared_.config;
  const bool last = response.next == response.last;
  const std::uint32_t length = last ? response.remaining : shared_.parameters.path_mtu;
  MemoryRange range;
  if (length > 0 && config.keys->check_remote(response.rkey, response.pd, config.qpn, response.address,
                                              length, AccessRight::remote_read, range) != KeyCheck::ok) {
    const wire::Psn psn = response.next;
    responses_.drop_from(psn);
    return refuse({wire::NakCode::remote_access_error, WorkStatus::success, AsyncEvent::qp_access_error},
                  psn);
  }
  config.host->send(
      {.headers =
           response_headers(read_response_operation(!response.begun, last), response.next, ack_syndrome()),
       .bytes = {},
       .gather = length > 0 ? std::span<const MemoryRange>(&range, 1) : std::span<const MemoryRange>(),
       .tag = tag(response.next)});
  response.begun = true;
  response.address += length;
  response.remaining -= length;
  ++response.next;
  if (last) responses_.pop_front();
}

void Responder::send_owed() {
  const wire::Psn psn = owed_.psn();
  std::uint8_t syndrome = 0;
  wire::Psn of = psn;
  switch (owed_.kind()) {
    case OwedAcknowledge::Kind::none:
      return;
    case OwedAcknowledge::Kind::ack:
      syndrome = ack_syndrome();
      break;
    case OwedAcknowledge::Kind::sequence_nak:
      if (gives_selective_acks()) {
        // Nothing new has been kept. The report names the last packet that has been executed.
        owed_.clear();
        return send_report(window_.report(window_.expected() - 1));
      }
      syndrome = wire::nak_syndrome(wire::NakCode::psn_sequence_error);
      of = window_.expected();
      dropped_behind_ = false;
      ++shared_.config.counters->out_of_sequence;
      break;
    case OwedAcknowledge::Kind::rnr_nak:
      syndrome = wire::rnr_nak_syndrome(shared_.parameters.min_rnr_timer);
      of = window_.expected();
      break;
    case OwedAcknowledge::Kind::fatal_nak:
      syndrome = wire::nak_syndrome(owed_.nak());
      break;
  }
  const wire::TransportHeaders headers = response_headers(Operation::acknowledge, of, syndrome);
  owed_.clear();
  shared_.config.host->send({.headers = headers, .bytes = {}, .gather = {}, .tag = tag(of)});
  if (stopped_) shared_.failed = true;
}

void Responder::send_report(const wire::SelectiveAckEth& report) {
  const wire::Psn of = window_.expected();
  wire::TransportHeaders headers =
      response_headers(Operation::acknowledge, of, wire::nak_syndrome(wire::NakCode::psn_sequence_error));
  headers.bth.opcode = wire::kSelectiveAcknowledge;
  headers.selective_ack_eth = report;
  dropped_behind_ = false;
  ++shared_.config.counters->selective_acks_sent;
  ++shared_.config.counters->out_of_sequence;
  shared_.config.host->send({.headers = headers, .bytes = {}, .gather = {}, .tag = tag(of)});
}

wire::TransportHeaders Responder::response_headers(Operation operation, wire::Psn psn,
                                                   std::uint8_t syndrome) const {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(shared_.config.packets, operation);
  headers.bth.pkey = shared_.parameters.pkey;
  headers.bth.destination = shared_.parameters.destination;
  headers.bth.psn = psn;
  headers.aeth = {syndrome, msn_};
  return headers;
}

// End-to-end credits: how many receives are posted (IBTA 9.7.7.2.2). Any QP of an SRQ may get its receives.
std::uint8_t Responder::ack_syndrome() const {
  if (shared_.config.shared_receive_queue) return wire::ack_syndrome(wire::kInvalidCreditCode);
  return wire::ack_syndrome(wire::credit_code_for(shared_.config.receive_queue->available()));
}

AccessTag Responder::tag(wire::Psn psn) const {
  return {.stream = Stream::responder, .psn = psn, .wqe_index = receives_.first_incomplete()};
}

}  // namespace urnic::transport
