#include "analysis/flows/request_window.hpp"

#include <algorithm>

namespace urnic::analysis {

RequestSlot* RequestWindow::slot(wire::Psn psn) {
  const std::int32_t at = distance(base_, psn);
  if (at < 0 || static_cast<std::size_t>(at) >= slots_.size()) return nullptr;
  return &slots_[static_cast<std::size_t>(at)];
}

const RequestSlot* RequestWindow::slot(wire::Psn psn) const {
  return const_cast<RequestWindow*>(this)->slot(psn);
}

bool RequestWindow::is_far(wire::Psn psn) const {
  const std::int32_t ahead = has_started() ? distance(next(), psn) : 0;
  return ahead > kFarthest || ahead < -kFarthest;
}

OrderVerdict RequestWindow::send(const SentRequest& request) {
  if (!has_started()) restart(request.psn);
  if (RequestSlot* const known = slot(request.psn)) return repeat(*known, request);
  if (distance(next(), request.psn) < 0) {
    return {.order = Order::retransmission, .transmission = 2, .was_answered = true};
  }
  auto missing = static_cast<std::uint32_t>(distance(next(), request.psn));
  if (missing != 0 && is_end_of_read(missing)) {
    slots_.insert(slots_.end(), missing, RequestSlot(slots_.back()));
    missing = 0;
  }
  const std::uint32_t gap = missing;
  if (missing > kMostMissing) {
    restart(request.psn);
    missing = 0;
  }
  append(request, missing);
  return {.order = gap == 0 ? Order::next : Order::after_gap, .gap = gap};
}

void RequestWindow::restart(wire::Psn psn) {
  slots_.clear();
  base_ = unacknowledged_ = expected_ = psn;
  went_back_to_.reset();
}

// Whether the PSNs that no request has are those of the response to the READ before them.
bool RequestWindow::is_end_of_read(std::uint32_t missing) const {
  if (slots_.empty() || !slots_.back().is_read) return false;
  const auto psns = static_cast<std::uint32_t>(distance(last_read_, next())) + missing;
  for (std::uint32_t mtu = 256; mtu <= 4096; mtu *= 2)
    if ((last_read_bytes_ + std::uint64_t{mtu} - 1) / mtu == psns) return true;
  return false;
}

void RequestWindow::append(const SentRequest& request, std::uint32_t missing) {
  slots_.resize(slots_.size() + missing);
  for (std::uint32_t i = 0; i < std::max(request.psns, 1U); ++i) {
    slots_.emplace_back();
    fill(slots_.back(), request);
  }
  if (request.is_read) {
    last_read_ = request.psn;
    last_read_bytes_ = request.length;
  }
  trim();
}

void RequestWindow::fill(RequestSlot& slot, const SentRequest& request) {
  slot.number = request.number;
  slot.id = request.id;
  slot.time = request.time;
  slot.payload = request.payload;
  slot.identification = request.identification;
  slot.is_read = request.is_read;
  slot.is_asked_for = false;
  if (slot.transmissions != UINT16_MAX) ++slot.transmissions;
}

OrderVerdict RequestWindow::repeat(RequestSlot& slot, const SentRequest& request) {
  const bool is_copy = request.identification != 0 && request.identification == slot.identification;
  if (is_copy)
    return {.order = Order::copy, .of = slot.number, .of_id = slot.id, .transmission = slot.transmissions};
  OrderVerdict verdict{.of = slot.number,
                       .of_id = slot.id,
                       .was_asked_for = slot.is_asked_for,
                       .was_answered = slot.is_read ? slot.is_answered : slot.is_acked || slot.is_reported,
                       .in_going_back = went_back_to_ && distance(*went_back_to_, request.psn) > 0};
  const bool never_seen = slot.number == 0;
  verdict.order = never_seen && !slot.is_asked_for && !went_back_to_ ? Order::late : Order::retransmission;
  for (std::uint32_t i = 0; i < std::max(request.psns, 1U); ++i) {
    RequestSlot* const part = this->slot(request.psn + i);
    if (part != nullptr && (i == 0 || part->is_read)) fill(*part, request);
  }
  // A transmission that the capture does not have counts, too.
  if (never_seen && verdict.order == Order::retransmission) ++slot.transmissions;
  verdict.transmission = slot.transmissions;
  return verdict;
}

void RequestWindow::extend_read(wire::Psn first, std::uint32_t psns) {
  const RequestSlot* const read = slot(first);
  if (read == nullptr || !read->is_read || psns > static_cast<std::uint32_t>(kFarthest)) return;
  const RequestSlot part = *read;
  // Only at the window's end: a request behind the READ has shown already where its response ends.
  const std::int32_t missing = distance(next(), first + psns);
  if (missing > 0 && next() == first + 1)
    slots_.insert(slots_.end(), static_cast<std::size_t>(missing), part);
  trim();
}

AckVerdict RequestWindow::acknowledge(wire::Psn end, std::int64_t time) {
  AckVerdict verdict;
  if (!has_started() || distance(unacknowledged_, end) <= 0) return verdict;
  // Requests that the capture does not have.
  const std::int32_t unseen = distance(next(), end);
  if (unseen > kFarthest) return verdict;
  if (unseen > 0) slots_.resize(slots_.size() + static_cast<std::size_t>(unseen));
  for (wire::Psn psn = unacknowledged_; psn != end; ++psn) {
    RequestSlot* const acked = slot(psn);
    ++verdict.psns;
    if (acked == nullptr) continue;
    if (verdict.first == 0) verdict.first = acked->number;
    if (acked->number != 0) verdict.last = acked->number;
    if (!acked->is_acked && !acked->is_reported) verdict.payload += acked->payload;
    acked->is_acked = true;
  }
  const RequestSlot* const last = slot(end - 1);
  if (last != nullptr && last->transmissions == 1 && !last->is_reported)
    verdict.round_trip = time - last->time;
  unacknowledged_ = end;
  if (went_back_to_ && distance(*went_back_to_, end) > 0) went_back_to_.reset();
  trim();
  return verdict;
}

void RequestWindow::go_back(wire::Psn psn) {
  if (RequestSlot* const asked = slot(psn)) asked->is_asked_for = true;
  went_back_to_ = psn;
}

Arrival RequestWindow::arrive(wire::Psn psn) {
  RequestSlot* const here = slot(psn);
  if (here == nullptr) return Arrival::not_seen;
  skip_arrived();
  if (distance(expected_, psn) < 0 || here->has_arrived) return Arrival::again;
  const bool in_order = psn == expected_;
  // A READ takes the PSNs of its response.
  for (wire::Psn part = psn; RequestSlot* const same = slot(part); ++part) {
    if (same->number != here->number || (part != psn && !same->is_read)) break;
    same->has_arrived = true;
  }
  skip_arrived();
  return in_order ? Arrival::in_order : Arrival::early;
}

void RequestWindow::skip_arrived() {
  while (const RequestSlot* const next = slot(expected_)) {
    if (!next->has_arrived) return;
    ++expected_;
  }
}

void RequestWindow::trim() {
  const std::int32_t acknowledged = distance(base_, unacknowledged_);
  const std::size_t most = static_cast<std::size_t>(kFarthest) * 2;
  std::size_t surplus = acknowledged > static_cast<std::int32_t>(kHistory)
                            ? static_cast<std::size_t>(acknowledged) - kHistory
                            : 0;
  // Without answers nothing is ever acknowledged: half of the capture may be missing.
  if (slots_.size() > most) surplus = std::max(surplus, slots_.size() - most);
  surplus = std::min(surplus, slots_.size());
  if (surplus == 0) return;
  slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(surplus));
  base_ = base_ + static_cast<std::uint32_t>(surplus);
  if (distance(base_, unacknowledged_) < 0) unacknowledged_ = base_;
  if (distance(base_, expected_) < 0) expected_ = base_;
}

}  // namespace urnic::analysis
