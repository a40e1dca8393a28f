#include "device_model/link/transit.hpp"

#include "device_model/link/switch_port.hpp"

namespace urnic::link {

Transit::Transit() : pool_(kFrames), due_(kFrames) { retired_.reserve(kFrames); }

PooledFrame* Transit::copy(const wire::Frame& frame, SwitchPort& from) {
  if (frame.size() > kSlotBytes) return nullptr;
  PooledFrame* const copy = pool_.take();
  if (copy == nullptr) return nullptr;
  copy->copy(frame);
  copy->from = &from;
  ++from.frames_under_way;
  return copy;
}

void Transit::release() {
  for (PooledFrame* const frame : retired_) {
    --frame->from->frames_under_way;
    pool_.give(frame);
  }
  retired_.clear();
}

std::uint32_t Transit::room(std::uint32_t own) const {
  const std::uint32_t free = kFrames - in_use();
  return free > own ? free - own : 0;
}

}  // namespace urnic::link
