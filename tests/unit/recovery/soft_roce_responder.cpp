#include "tests/unit/recovery/soft_roce_responder.hpp"

#include <algorithm>

#include "tests/unit/recovery/weightless_memory.hpp"
#include "wire/aeth.hpp"

namespace urnic::transport::lab {

using wire::Operation;

namespace {

bool is_read(const wire::TransportHeaders& headers) {
  return headers.bth.opcode.operation() == Operation::read_request;
}

bool is_atomic(const wire::TransportHeaders& headers) {
  const Operation operation = headers.bth.opcode.operation();
  return operation == Operation::compare_swap || operation == Operation::fetch_add;
}

const std::uint8_t kUnlimited = wire::ack_syndrome(wire::kInvalidCreditCode);

}  // namespace

SoftRoceResponder::SoftRoceResponder(Host& host, const SoftRoceSettings& settings)
    : host_(host),
      settings_(settings),
      ring_(settings.resources),
      expected_(settings.first_psn),
      acknowledged_(settings.first_psn - 1) {
  for (Resource& resource : ring_) resource.last = settings.first_psn - 2;  // remembers nothing
}

void SoftRoceResponder::receive(const wire::TransportHeaders& headers, std::uint32_t /*payload*/) {
  if (headers.bth.opcode.service() != wire::Service::rc) {
    ++unknown_opcodes_;
    was_harmed_ |= !before(headers.bth.psn, settings_.first_psn);
    return;
  }
  ++requests_received_;
  queue_.push_back(headers);
}

void SoftRoceResponder::transmit(Time now) {
  for (bool sent = false; !sent && wants_to_transmit();) {
    work(now);
    if (reading_ == nullptr) sent = take(queue_.front());
    if (reading_ != nullptr) {
      answer_read();
      sent = true;
    }
    if (reading_ == nullptr) queue_.pop_front();
  }
}

// A packet is taken or sent.
void SoftRoceResponder::work(Time now) {
  if (++worked_ != settings_.burst) return;
  worked_ = 0;
  resumes_at_ = now + settings_.pause;
}

bool SoftRoceResponder::take(const wire::TransportHeaders& request) {
  if (before(request.bth.psn, expected_)) return repeat(request);
  if (request.bth.psn != expected_) {
    if (nak_sent_) return false;
    nak_sent_ = true;
    acknowledge(Operation::acknowledge, expected_, wire::nak_syndrome(wire::NakCode::psn_sequence_error));
    return true;
  }
  nak_sent_ = false;
  return execute(request);
}

bool SoftRoceResponder::execute(const wire::TransportHeaders& request) {
  const wire::Psn psn = request.bth.psn;
  if (is_read(request)) {
    const std::uint32_t length = request.reth.dma_length;
    const std::uint32_t packets = std::max((length + settings_.path_mtu - 1) / settings_.path_mtu, 1u);
    msn_ = msn_.next();
    reading_ = &remember({.is_read = true,
                          .first = psn,
                          .last = psn + (packets - 1),
                          .begin = request.reth.virtual_address,
                          .length = length,
                          .next = psn,
                          .remaining = length,
                          .from_the_start = true});
    return false;
  }
  const wire::OpcodeTraits& traits = wire::traits(request.bth.opcode);
  expected_ = psn + 1;
  acknowledged_ = psn;
  if (traits.last) msn_ = msn_.next();
  if (is_atomic(request)) {
    remember({.first = psn, .last = psn});
    acknowledge(Operation::atomic_acknowledge, psn, kUnlimited);
    return true;
  }
  const Operation operation = request.bth.opcode.operation();
  messages_received_ += operation == Operation::send_last || operation == Operation::send_only;
  if (!request.bth.ack_request) return false;
  acknowledge(Operation::acknowledge, psn, kUnlimited);
  return true;
}

bool SoftRoceResponder::repeat(const wire::TransportHeaders& request) {
  if (is_read(request)) return repeat_read(request);
  if (is_atomic(request)) {
    if (find(request.bth.psn) == nullptr) return false;
    acknowledge(Operation::atomic_acknowledge, request.bth.psn, kUnlimited);
    return true;
  }
  acknowledge(Operation::acknowledge, acknowledged_, kUnlimited);
  return true;
}

bool SoftRoceResponder::repeat_read(const wire::TransportHeaders& request) {
  Resource* const resource = find(request.bth.psn);
  const std::uint64_t begin = request.reth.virtual_address;
  const std::uint32_t length = request.reth.dma_length;
  if (resource == nullptr || !resource->is_read || begin < resource->begin || length > resource->length ||
      begin + length > resource->begin + resource->length) {
    ++forgotten_reads_;
    return false;
  }
  resource->begin = begin;
  resource->next = request.bth.psn;
  resource->remaining = length;
  resource->from_the_start = request.bth.psn == resource->first;
  reading_ = resource;
  return false;
}

void SoftRoceResponder::answer_read() {
  Resource& read = *reading_;
  const auto payload =
      static_cast<std::uint32_t>(std::min<std::uint64_t>(read.remaining, settings_.path_mtu));
  const bool last = read.remaining <= settings_.path_mtu;
  Operation operation = last ? Operation::read_response_last : Operation::read_response_middle;
  if (read.from_the_start) operation = last ? Operation::read_response_only : Operation::read_response_first;
  acknowledge(operation, read.next, kUnlimited, payload);
  read.from_the_start = false;
  read.remaining -= payload;
  ++read.next;
  if (!last) return;
  if (before(expected_, read.next)) expected_ = read.next;
  reading_ = nullptr;
}

void SoftRoceResponder::acknowledge(Operation operation, wire::Psn psn, std::uint8_t syndrome,
                                    std::uint32_t payload) {
  wire::TransportHeaders headers;
  headers.bth.opcode = wire::Opcode(wire::Service::rc, operation);
  headers.bth.pkey = wire::Pkey{0xFFFF};
  headers.bth.psn = psn;
  headers.aeth = {syndrome, msn_};
  ++packets_sent_;
  host_.send({.headers = headers, .bytes = payload_of(payload), .gather = {}, .tag = {}});
}

SoftRoceResponder::Resource& SoftRoceResponder::remember(Resource resource) {
  Resource& place = ring_[ring_head_];
  ring_head_ = (ring_head_ + 1) % ring_.size();
  return place = resource;
}

SoftRoceResponder::Resource* SoftRoceResponder::find(wire::Psn psn) {
  for (Resource& resource : ring_) {
    if (!before(psn, resource.first) && !before(resource.last, psn)) return &resource;
  }
  return nullptr;
}

}  // namespace urnic::transport::lab
