#include "device_model/control/umad/held_memory.hpp"

namespace urnic::control {

bool HeldMemory::hold(std::size_t bytes) {
  if (bytes > most_) return false;
  const std::size_t wanted = (bytes + kStep - 1) / kStep;
  if (wanted > steps_.size() && !account_->has_room(Resource::memory, (wanted - steps_.size()) * kStep))
    return false;
  while (steps_.size() < wanted) steps_.push_back(account_->charge(Resource::memory, kStep));
  while (steps_.size() > wanted) steps_.pop_back();
  return true;
}

}  // namespace urnic::control
