#include "device_model/link/frames_in_flight.hpp"

#include "device_model/link/switch_port.hpp"

namespace urnic::link {

FramesInFlight::FramesInFlight() : pool_(kFrames), due_(kFrames) { retired_.reserve(kFrames); }

PooledFrame* FramesInFlight::copy(const wire::Frame& frame, SwitchPort& from) {
  if (frame.size() > kSlotBytes) return nullptr;
  PooledFrame* const copy = pool_.take();
  if (copy == nullptr) return nullptr;
  copy->copy(frame);
  copy->from = &from;
  ++from.frames_under_way;
  return copy;
}

void FramesInFlight::release() {
  for (PooledFrame* const frame : retired_) {
    --frame->from->frames_under_way;
    pool_.give(frame);
  }
  retired_.clear();
}

std::uint32_t FramesInFlight::room(std::uint32_t own) const {
  const std::uint32_t free = kFrames - in_use();
  return free > own ? free - own : 0;
}

}  // namespace urnic::link
