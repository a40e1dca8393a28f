#include "device_model/control/umad/held_memory.hpp"

#include <system_error>

namespace urnic::control {
namespace {

constexpr std::size_t kStep = std::size_t{1} << 20;

std::size_t rounded_up(std::size_t bytes) { return (bytes + kStep - 1) / kStep * kStep; }

}  // namespace

bool HeldMemory::hold(std::size_t bytes) {
  const std::size_t held = rounded_up(bytes);
  if (held > held_ && !account_->has_room(Resource::memory, held - held_)) return false;
  return hold_as_asked(bytes);
}

bool HeldMemory::hold_as_asked(std::size_t bytes) {
  if (bytes > most_) return false;
  const std::size_t held = rounded_up(bytes);
  if (held > held_) return grow(held);
  shrink(held);
  return true;
}

bool HeldMemory::grow(std::size_t held) {
  try {
    account_->charge(Resource::memory, held - held_).release();
  } catch (const std::system_error&) {
    return false;
  }
  held_ = held;
  return true;
}

void HeldMemory::shrink(std::size_t held) {
  account_->give_back({Resource::memory, held_ - held, 0});
  held_ = held;
}

}  // namespace urnic::control
