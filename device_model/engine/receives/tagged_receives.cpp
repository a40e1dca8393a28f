#include "device_model/engine/receives/tagged_receives.hpp"

#include <algorithm>

#include "device_model/engine/receives/srq_tag_matching.hpp"
#include "device_model/transport/request_check.hpp"

namespace urnic::engine {

using transport::Completion;
using transport::CompletionOpcode;
using transport::ReceiveRequest;
using transport::WorkStatus;
using wire::TaggedMessageKind;

namespace {

constexpr std::uint8_t kWholeMatch = abi::tag_matched | abi::tag_data_valid | abi::tag_entry_done;

}  // namespace

void TaggedReceives::describe(transport::QpConfig& config) {
  config.send_slots = RendezvousQueue::kSlots;
  config.send_queue = &sends_;
  config.receive_slots = kMost;
  config.receive_queue = config.tagged_receives = this;
  config.shared_receive_queue = true;
}

void TaggedReceives::give_back() {
  for (; completed_ != taken_; ++completed_) {
    const Receive& receive = receives_[completed_ % kMost];
    if (receive.kind == Kind::unexpected) matching_.unexpected_failed();
    if (!is_ordinary(receive.kind)) flush_buffer(receive.entry);
  }
  sends_.reset([this](const Rendezvous& rendezvous) { flush_buffer(rendezvous.entry); });
  taken_ = completed_ = untagged_completed_ = promised_ = 0;
}

void TaggedReceives::flush_buffer(std::uint32_t entry) {
  Completion completion;
  completion.qpn = qpn_;
  completion.receive = true;
  completion.status = WorkStatus::flushed;
  completion.solicited = true;
  report_buffer(entry, completion, abi::tag_entry_done);
}

void TaggedReceives::count(const Receive& receive, ReceiveRequest& request) {
  receives_[taken_ % kMost] = receive;
  request.index = taken_++;
}

bool TaggedReceives::take_ordinary(Kind kind, ReceiveRequest& request) {
  if (full() || !untagged_.next(request)) return false;
  count({.kind = kind}, request);
  return true;
}

bool TaggedReceives::take_untagged(ReceiveRequest& request) { return take_ordinary(Kind::plain, request); }

std::optional<transport::TaggedReceives::Taken> TaggedReceives::take(std::span<const std::byte> payload,
                                                                     bool whole, bool reads,
                                                                     ReceiveRequest& request) {
  if (full() || untagged_.broken()) return std::nullopt;
  const wire::TaggedMessage message = wire::parse_tagged_message(payload, whole);
  Kind kind = message.kind == TaggedMessageKind::other ? Kind::plain : Kind::no_tag;
  if (message.kind == TaggedMessageKind::eager || message.kind == TaggedMessageKind::rendezvous) {
    // Before the matching: the peer retries.
    if (message.kind == TaggedMessageKind::rendezvous && promised_ == sends_.room()) return std::nullopt;
    if (const auto entry = matching_.match(message.header.tag)) {
      TagMatching::Message& kept = matching_.message(*entry);
      kept = {.info = {message.header.tag, message.header.user_data, 0},
              .offer = message.rendezvous,
              .finish = {}};
      if (message.kind == TaggedMessageKind::rendezvous) kept.finish = wire::make_rendezvous_finish(payload);
      const Receive receive{kind_of(message, *entry, whole, reads), static_cast<std::uint16_t>(*entry)};
      return take_buffer(receive, payload, request);
    }
    kind = Kind::unexpected;
  }
  if (!take_ordinary(kind, request)) return std::nullopt;
  if (kind == Kind::unexpected) matching_.unexpected_began();
  return Taken{payload, false};
}

TaggedReceives::Kind TaggedReceives::kind_of(const wire::TaggedMessage& message, std::uint32_t entry,
                                             bool whole, bool reads) const {
  if (message.kind == TaggedMessageKind::eager) return whole ? Kind::eager : Kind::long_eager;
  const std::uint64_t most =
      std::min<std::uint64_t>(matching_.buffers().length(entry), transport::kMaxRdmaLength);
  return reads && message.rendezvous.length <= most ? Kind::rendezvous : Kind::incomplete;
}

transport::TaggedReceives::Taken TaggedReceives::take_buffer(const Receive& receive,
                                                             std::span<const std::byte> payload,
                                                             ReceiveRequest& request) {
  const TagList& buffers = matching_.buffers();
  request = {};
  request.pd = untagged_.pd();
  request.sges = buffers.sges(receive.entry);
  request.length = buffers.length(receive.entry);
  count(receive, request);
  switch (receive.kind) {
    case Kind::rendezvous:
      ++promised_;
      return {};
    case Kind::incomplete:
      // The beginning of the message, for software to continue, as far as it fits.
      return {payload.first(std::min<std::uint64_t>(payload.size(), request.length)), false};
    default:
      return {payload.subspan(wire::kTagHeaderBytes), receive.kind == Kind::long_eager};
  }
}

Reported TaggedReceives::report(const Completion& completion, bool in_error) {
  const Receive receive = receives_[completion.wqe_index % kMost];
  if (completion.opcode == CompletionOpcode::tagged_receive) {  // the transport's announcement
    return report_buffer(receive.entry, completion, abi::tag_matched);
  }
  completed_ = completion.wqe_index + 1;
  return is_ordinary(receive.kind) ? finish_ordinary(receive.kind, completion)
                                   : finish_buffer(receive, completion, in_error);
}

Reported TaggedReceives::finish_ordinary(Kind kind, Completion completion) {
  completion.wqe_index = untagged_.complete(untagged_completed_++);
  const bool failed = completion.status != WorkStatus::success;
  std::uint8_t flags = 0;
  if (kind == Kind::unexpected && failed) matching_.unexpected_failed();
  if (kind == Kind::unexpected && !failed) {
    flags = matching_.unexpected_arrives();
    completion.opcode = CompletionOpcode::tagged_receive;
  }
  if (kind == Kind::no_tag && !failed) completion.opcode = CompletionOpcode::receive_without_tag;
  return matching_.report(completion, flags) ? Reported::yes : Reported::lost;
}

Reported TaggedReceives::finish_buffer(const Receive& receive, Completion completion, bool in_error) {
  if (receive.kind == Kind::rendezvous) --promised_;
  if (completion.status != WorkStatus::success) {
    return report_buffer(receive.entry, completion, abi::tag_entry_done);
  }
  switch (receive.kind) {
    case Kind::rendezvous:
      return begin_rendezvous(receive.entry, completion, in_error);
    case Kind::incomplete:
      completion.status = WorkStatus::rendezvous_incomplete;
      return report_buffer(receive.entry, completion, kWholeMatch);
    case Kind::long_eager:
      return report_buffer(receive.entry, completion, abi::tag_data_valid | abi::tag_entry_done);
    default:
      return report_buffer(receive.entry, completion, kWholeMatch);
  }
}

// Only now, when the match is reported: a message that the transport took back before never began.
Reported TaggedReceives::begin_rendezvous(std::uint32_t entry, const Completion& completion, bool in_error) {
  const Reported outcome = report_buffer(entry, completion, abi::tag_matched);
  if (outcome != Reported::yes || in_error) {
    flush_buffer(entry);
    return outcome;
  }
  const TagMatching::Message& message = matching_.message(entry);
  sends_.begin({.entry = entry,
                .sges = matching_.buffers().sges(entry),
                .offer = message.offer,
                .finish = message.finish});
  return outcome;
}

Reported TaggedReceives::report_send(const Completion& completion, bool in_error) {
  const RendezvousQueue::Item& item = sends_.item(completion.wqe_index);
  if (!item.is_read) {
    const bool quiet = completion.status == WorkStatus::success || completion.status == WorkStatus::flushed;
    return quiet ? Reported::yes : Reported::peer_lost;
  }
  const std::uint32_t number = item.number;
  const std::uint32_t entry = sends_.at(number).entry;
  const bool failed = completion.status != WorkStatus::success;
  Completion received = completion;
  received.receive = true;
  if (failed || in_error) {
    sends_.end(number);
  } else {
    sends_.finish(number);
  }
  return report_buffer(entry, received,
                       failed ? abi::tag_entry_done : abi::tag_data_valid | abi::tag_entry_done);
}

// The report of the match carries the message's header.
Reported TaggedReceives::report_buffer(std::uint32_t entry, Completion completion, std::uint8_t flags) {
  completion.opcode = CompletionOpcode::tagged_receive;
  completion.wqe_index = entry;
  const bool matched = (flags & abi::tag_matched) != 0;
  const abi::TagInfo info = matched ? matching_.message(entry).info : abi::TagInfo{};
  flags |= abi::tag_in_entry;
  return matching_.report(completion, flags, info) ? Reported::yes : Reported::lost;
}

}  // namespace urnic::engine
