#include "device_model/transport/responder/responder_resources.hpp"

#include <algorithm>

namespace urnic::transport {

void ResponderResources::reset(std::uint32_t limit) {
  limit_ = std::min(limit, static_cast<std::uint32_t>(ring_.size()));
  used_ = 0;
  next_ = 0;
}

void ResponderResources::set_limit(std::uint32_t limit) {
  if (std::min(limit, static_cast<std::uint32_t>(ring_.size())) != limit_) reset(limit);
}

ResponderResource& ResponderResources::take() {
  ResponderResource& resource = ring_[next_];
  next_ = next_ + 1 == limit_ ? 0 : next_ + 1;
  used_ = std::min(used_ + 1, limit_);
  return resource;
}

ResponderResource* ResponderResources::find(wire::Psn psn) {
  for (std::uint32_t i = 0; i < used_; ++i) {
    const std::int32_t offset = distance(ring_[i].first, psn);
    if (offset >= 0 && static_cast<std::uint32_t>(offset) < ring_[i].packets) return &ring_[i];
  }
  return nullptr;
}

wire::Psn ResponderResources::last_before_response(wire::Psn psn, wire::Psn latest) const {
  wire::Psn last = latest;
  for (std::uint32_t i = 0; i < used_; ++i) {
    const wire::Psn first = ring_[i].first;
    if (before(psn, first) && !before(last, first)) last = first - 1;
  }
  return last;
}

}  // namespace urnic::transport
