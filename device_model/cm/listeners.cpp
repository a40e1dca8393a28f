#include "device_model/cm/listeners.hpp"

namespace urnic::cm {

Result Listeners::add(ServiceId service, std::uint32_t backlog) {
  if (has(service)) return Result::in_use;
  if (listeners_.size() >= limit_) return Result::no_room;
  listeners_[service].backlog = backlog;
  return Result::ok;
}

std::optional<BacklogPlace> Listeners::take_place(ServiceId service) {
  const Listener& listener = listeners_.at(service);
  if (*listener.waiting >= listener.backlog) return std::nullopt;
  return BacklogPlace(listener.waiting);
}

}  // namespace urnic::cm
