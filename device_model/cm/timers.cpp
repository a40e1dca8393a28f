#include "device_model/cm/timers.hpp"

namespace urnic::cm {

using wire::mad::CommunicationId;

void Timers::set(CommunicationId id, Time deadline) {
  cancel(id);
  deadlines_[id] = deadline;
  order_.emplace(deadline, id);
  // For a deadline that went away the host is not asked again: its call comes early and is harmless.
  if (asked_ && *asked_ <= deadline) return;
  asked_ = deadline;
  host_.wake_at(deadline);
}

void Timers::cancel(CommunicationId id) {
  const auto found = deadlines_.find(id);
  if (found == deadlines_.end()) return;
  order_.erase({found->second, id});
  deadlines_.erase(found);
}

std::optional<CommunicationId> Timers::take_due(Time now) {
  if (order_.empty() || order_.begin()->first > now) return std::nullopt;
  const CommunicationId id = order_.begin()->second;
  cancel(id);
  return id;
}

std::optional<Time> Timers::earliest() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->first;
}

void Timers::woken() {
  asked_ = earliest();
  if (asked_) host_.wake_at(*asked_);
}

}  // namespace urnic::cm
