#include "device_model/transport/response_queue.hpp"

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

// Originals always find room: as many places as they may need are kept free of repeats.
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
  // Of those that end with the same PSN, behind each that begins earlier: what it still has to send is more
  // than what is asked for now.
  for (; place < size_ && at(place).last == response.last; ++place) {
    if (before(at(place).next, response.next)) continue;
    const bool is_repeat = at(place).is_repeat;
    at(place) = response;
    at(place).is_repeat = is_repeat;
    return true;
  }
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
