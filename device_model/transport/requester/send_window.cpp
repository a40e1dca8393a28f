#include "device_model/transport/requester/send_window.hpp"

#include <algorithm>
#include <bit>

namespace urnic::transport {

SendWindow::SendWindow(std::uint32_t slots) : slots_(std::bit_ceil(std::max(slots, 1u))) {
  mask_ = static_cast<std::uint32_t>(slots_.size()) - 1;
}

void SendWindow::clear() { undoable_ = oldest_ = sending_ = taken_ = found_ = 0; }

std::uint32_t SendWindow::find(PacketNumber number) {
  for (std::uint32_t index : {found_, found_ + 1}) {
    if (holds_incomplete(index) && contains(index, number)) return found_ = index;
  }
  // The last of those whose first packet is not after `number` and that has packets.
  std::uint32_t low = 0;
  std::uint32_t high = taken_ - oldest_;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (at(oldest_ + middle).first <= number ? low : high) = middle;
  }
  while (low > 0 && !contains(oldest_ + low, number)) --low;  // local operations share the number
  return found_ = oldest_ + low;
}

SendSlot* SendWindow::take(SendQueue& queue) {
  if (!queue.pending()) return nullptr;
  SendSlot& slot = at(taken_++);
  if (taken_ - undoable_ > mask_ + 1) ++undoable_;
  slot.begin();
  queue.next(slot.request);
  return &slot;
}

void SendWindow::completed_oldest() {
  if (sending_ == oldest_) ++sending_;
  ++oldest_;
}

}  // namespace urnic::transport
