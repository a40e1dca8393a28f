#include "device_model/transport/recovery/gbn_recovery.hpp"

#include <algorithm>

namespace urnic::transport {

void GbnRecovery::start(PacketNumber first) {
  acknowledged_ = next_ = high_ = first;
  limit_.clear(first);
}

void GbnRecovery::sent(PacketRange packets, bool, Time) {
  next_ = packets.end();
  high_ = std::max(high_, next_);
  limit_.sent(packets.count);
}

// A late acknowledgement of the first transmission saves the rest of the second.
void GbnRecovery::acknowledged(PacketNumber until, Source, Time) {
  limit_.arrived(until - acknowledged_);
  acknowledged_ = until;
  next_ = std::max(next_, until);
}

void GbnRecovery::missing(PacketRange missing, Time) {
  limit_.hole(missing.first);
  next_ = std::min(next_, missing.first);
}

void GbnRecovery::timed_out(const Overdue& overdue, Time) {
  limit_.silence();
  next_ = overdue.oldest.first;
}

void GbnRecovery::discarded(PacketNumber from) {
  limit_.silence();
  acknowledged_ = std::min(acknowledged_, from);
  next_ = std::min(next_, from);
}

void GbnRecovery::truncate(PacketNumber end) {
  high_ = std::min(high_, end);
  next_ = std::min(next_, high_);
}

std::optional<PacketRange> GbnRecovery::resend(std::uint32_t most) const {
  if (next_ == high_ || !may_send()) return std::nullopt;
  return PacketRange{next_, static_cast<std::uint32_t>(std::min<std::uint64_t>(high_ - next_, most))};
}

}  // namespace urnic::transport
