#include "device_model/transport/recovery/gbn_recovery.hpp"

#include <algorithm>

namespace urnic::transport {

void GbnRecovery::start(PacketNumber first) { next_ = high_ = first; }

void GbnRecovery::sent(PacketRange packets, bool, Time) {
  next_ = packets.end();
  high_ = std::max(high_, next_);
}

// A late acknowledgement of the first transmission saves the rest of the second.
void GbnRecovery::acknowledged(PacketNumber until, Source, Time) { next_ = std::max(next_, until); }

void GbnRecovery::missing(PacketRange missing, Time) { next_ = std::min(next_, missing.first); }

void GbnRecovery::timed_out(PacketRange oldest, Time) { next_ = oldest.first; }

void GbnRecovery::discarded(PacketNumber from) { next_ = std::min(next_, from); }

void GbnRecovery::truncate(PacketNumber end) {
  high_ = std::min(high_, end);
  next_ = std::min(next_, high_);
}

std::optional<PacketRange> GbnRecovery::resend(std::uint32_t most) const {
  if (next_ == high_) return std::nullopt;
  return PacketRange{next_, static_cast<std::uint32_t>(std::min<std::uint64_t>(high_ - next_, most))};
}

}  // namespace urnic::transport
