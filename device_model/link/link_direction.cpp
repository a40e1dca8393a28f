#include "device_model/link/link_direction.hpp"

#include <algorithm>
#include <limits>

namespace urnic::link {

LinkDirection::LinkDirection(const LinkSettings& settings, std::uint32_t device, Direction direction)
    : settings_(settings),
      only_loses_(link::only_loses(settings)),
      random_(settings, device, direction),
      early_marking_(settings),
      bursts_(settings, device, direction),
      egress_queue_(settings),
      back_pressure_(settings, direction) {}

Passage LinkDirection::enter(transport::Time now, std::uint32_t bytes, const PacketIdentity& packet,
                             Pause* feeder) {
  Passage passage;
  transport::Time left = now;
  if (egress_queue_.has_rate()) {
    if (egress_queue_.is_full(now)) {
      passage.drop = DropCause::queue_full;
      return passage;
    }
    const bool is_shared = buffer_ != nullptr && buffer_->limits();
    if (is_shared && !buffer_->has_room(egress_queue_, now, bytes)) [[unlikely]] {
      passage.drop = DropCause::shared_buffer_full;
      return passage;
    }
    const std::uint32_t threshold = settings_.ecn_threshold_packets;
    passage.congestion = threshold != 0 && egress_queue_.waiting(now) >= threshold;
    if (early_marking_.possible()) [[unlikely]]
      passage.congestion |= early_marking_.marks(egress_queue_.bytes(now), random_.marking(packet));
    if (pause_ != nullptr) [[unlikely]]
      egress_queue_.hold(now, pause_->end());
    left = egress_queue_.accept(now, bytes);
    if (back_pressure_.possible()) [[unlikely]]
      back_pressure_.entered(egress_queue_, now, feeder);
  } else if (pause_ != nullptr) [[unlikely]] {
    left = std::max(left, pause_->end());
  }

  // A packet that is lost on the wire has used the line for its time.
  const PacketImpairments random = random_.of(packet);
  if (bursts_.takes_next()) passage.drop = DropCause::burst;
  if (random.lost) passage.drop = DropCause::loss;
  if (passage.drop != DropCause::none) return passage;

  passage.copies = random.duplicated ? 2 : 1;
  passage.corrupted = random.corrupted;
  passage.corruption = random.corruption;
  passage.jitter = random.jitter;
  passage.due = left + settings_.delay + random.jitter;
  if (random.reordered) {
    passage.behind = settings_.reorder_packets;
    passage.latest = passage.due + settings_.reorder_hold;
  } else {
    passage.due = std::max(passage.due, last_due_);
    last_due_ = passage.due;
  }
  return passage;
}

std::size_t LinkDirection::room(transport::Time now, transport::Nanoseconds ahead, std::size_t least) const {
  if (pause_ != nullptr && pause_->end() > now) return 0;
  if (!egress_queue_.has_rate()) return std::numeric_limits<std::size_t>::max();
  const transport::Time clear = egress_queue_.clear_at();
  if (clear <= now) return std::max(egress_queue_.bytes_in(ahead), least);
  return egress_queue_.bytes_in(ahead - (clear - now));
}

transport::Time LinkDirection::room_at(transport::Nanoseconds ahead, std::size_t least) const {
  const transport::Nanoseconds wanted = std::max(ahead / 2, egress_queue_.time_of(least));
  const transport::Time line = egress_queue_.clear_at() - std::max(ahead - wanted, transport::Nanoseconds(0));
  return pause_ != nullptr ? std::max(line, pause_->end()) : line;
}

}  // namespace urnic::link
