#include "device_model/link/switch_port.hpp"

#include <algorithm>
#include <limits>

#include "device_model/link/outer_port.hpp"
#include "device_model/link/switch.hpp"

namespace urnic::link {
namespace {

// How much data a device may queue for its line: enough that the line is never idle between two rounds.
constexpr transport::Nanoseconds kAhead{20'000};

}  // namespace

void SwitchPort::transmit(const wire::Frame& frame, const PacketOrigin& origin, transport::Time now) {
  frame_switch_.forward(*this, frame, origin, now);
}

std::size_t SwitchPort::in_place_from(const wire::NetworkHeaders& path) const {
  if (far_end != nullptr || !passes_unread(Direction::transmit)) return kNeverInPlace;
  return frame_switch_.in_place_from(*this, path);
}

std::size_t SwitchPort::room(transport::Time now, std::size_t least) const {
  const LidFabric* const inside = frame_switch_.lid_fabric_;
  if (!frame_switch_.trunks_.empty() && !frame_switch_.trunks_have_room()) return 0;
  if (waits_for != nullptr && !waits_for->has_room(now)) return 0;
  if (!is_impaired() && inside == nullptr) return std::numeric_limits<std::size_t>::max();
  std::size_t room = frame_switch_.in_flight_.room(frames_under_way) * least;
  if (inside != nullptr) room = std::min(room, inside->room(number, least));
  if (!is_impaired()) return room;
  return std::min(room, link->channel(Direction::transmit).model().room(now, kAhead, least));
}

transport::Time SwitchPort::room_at(std::size_t least) const {
  const LidFabric* const inside = frame_switch_.lid_fabric_;
  transport::Time at = waits_for != nullptr ? waits_for->room_at() : transport::Time{};
  if (!is_impaired() && inside == nullptr) return at;
  if (inside != nullptr) at = std::max(at, inside->room_at(number));
  if (is_impaired()) at = std::max(at, link->channel(Direction::transmit).model().room_at(kAhead, least));
  if (frame_switch_.in_flight_.room(frames_under_way) != 0) return at;
  return std::max(at, frame_switch_.next_frame_due().value_or(at));
}

}  // namespace urnic::link
