#include "device_model/transport/response_queue.hpp"

#include <algorithm>
#include <bit>

namespace urnic::transport {

ResponseQueue::ResponseQueue(std::uint32_t most)
    : most_(most),
      ring_(std::bit_ceil(std::max(2 * most, 1u))),
      mask_(static_cast<std::uint32_t>(ring_.size()) - 1) {}

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

void ResponseQueue::repeat(const PendingResponse& response) {
  std::uint32_t place = 0;
  while (place < size_ && before(at(place).last, response.last)) ++place;
  if (place < size_ && at(place).last == response.last) {
    const bool is_repeat = at(place).is_repeat;
    at(place) = response;
    at(place).is_repeat = is_repeat;
    return;
  }
  if (size_ - originals_ >= most_) return;
  for (std::uint32_t i = size_; i > place; --i) at(i) = at(i - 1);
  at(place) = response;
  at(place).is_repeat = true;
  ++size_;
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
