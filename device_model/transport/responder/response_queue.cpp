#include "device_model/transport/responder/response_queue.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace urnic::transport {

ResponseQueue::ResponseQueue(std::uint32_t most)
    : most_(most),
      mask_(std::bit_ceil(std::max(2 * most, 1u)) - 1),
      ring_(std::make_unique<PendingResponse[]>(std::size_t{mask_} + 1)) {}

void ResponseQueue::clear() {
  head_ = 0;
  size_ = 0;
  originals_ = 0;
}

void ResponseQueue::push(const PendingResponse& response) {
  at(size_) = response;
  ++size_;
  ++originals_;
}

bool ResponseQueue::holds_original_until(wire::Psn psn) const {
  if (originals_ == 0) return false;
  for (std::uint32_t place = 0; place < size_ && !before(psn, at(place).next); ++place) {
    if (!at(place).is_repeat) return true;
  }
  return false;
}

// First-time responses always find room: repeats do not take the places that those may need.
bool ResponseQueue::has_room_for_repeat() {
  const std::uint32_t repeats = size_ - originals_;
  if (repeats >= std::max(most_, kMostRepeats)) return false;
  if (repeats + most_ <= mask_) return true;
  const std::uint32_t mask = 2 * mask_ + 1;
  std::unique_ptr<PendingResponse[]> larger(new (std::nothrow) PendingResponse[std::size_t{mask} + 1]);
  if (larger == nullptr) return false;
  for (std::uint32_t i = 0; i < size_; ++i) larger[i] = at(i);
  ring_ = std::move(larger);
  mask_ = mask;
  head_ = 0;
  return true;
}

bool ResponseQueue::repeat(const PendingResponse& response) {
  std::uint32_t place = 0;
  while (place < size_ && before(at(place).last, response.last)) ++place;
  for (std::uint32_t i = place; i < size_; ++i) {
    if (!before(response.next, at(i).next) && !before(at(i).last, response.last)) return true;
  }
  if (place < size_ && at(place).last == response.last) {
    const bool is_repeat = at(place).is_repeat;
    at(place) = response;
    at(place).is_repeat = is_repeat;
    return true;
  }
  return insert(place, response);
}

namespace {

// The first `packets` of a READ's response, and what is left of it.
PendingResponse split(PendingResponse& response, std::uint32_t packets, std::uint32_t path_mtu) {
  PendingResponse first = response;
  first.last = response.next + (packets - 1);
  first.remaining = packets * path_mtu;
  response.next = response.next + packets;
  response.address += first.remaining;
  response.remaining -= first.remaining;
  return first;
}

}  // namespace

bool ResponseQueue::repeat_missing(PendingResponse response, std::uint32_t path_mtu) {
  for (std::uint32_t place = 0; place < size_; ++place) {
    const wire::Psn next = at(place).next;
    const wire::Psn last = at(place).last;
    if (before(last, response.next)) continue;
    if (before(response.last, next)) return insert(place, response);
    if (before(response.next, next)) {
      const auto ahead = static_cast<std::uint32_t>(distance(response.next, next));
      if (!insert(place, split(response, ahead, path_mtu))) return false;
      ++place;
    }
    if (!before(last, response.last)) return true;
    split(response, static_cast<std::uint32_t>(distance(response.next, last)) + 1, path_mtu);
  }
  return insert(size_, response);
}

bool ResponseQueue::insert(std::uint32_t place, const PendingResponse& response) {
  if (!has_room_for_repeat()) return false;
  for (std::uint32_t i = size_; i > place; --i) at(i) = at(i - 1);
  at(place) = response;
  at(place).is_repeat = true;
  ++size_;
  return true;
}

void ResponseQueue::pop_front() {
  if (!front().is_repeat) --originals_;
  head_ = (head_ + 1) & mask_;
  --size_;
}

void ResponseQueue::drop_from(wire::Psn psn) {
  while (size_ > 0 && !before(at(size_ - 1).next, psn)) {
    if (!at(size_ - 1).is_repeat) --originals_;
    --size_;
  }
}

}  // namespace urnic::transport
