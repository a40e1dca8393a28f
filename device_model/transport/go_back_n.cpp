#include "device_model/transport/go_back_n.hpp"

#include <algorithm>

namespace urnic::transport {

void GoBackN::start() { next_ = high_ = PacketNumber(0); }

void GoBackN::sent(PacketRange packets, Time) {
  next_ = packets.end();
  high_ = std::max(high_, next_);
}

// A late acknowledgement of the first transmission saves the rest of the second.
void GoBackN::acknowledged(PacketNumber until, Time) { next_ = std::max(next_, until); }

void GoBackN::missing(PacketNumber first_missing, Time) { next_ = std::min(next_, first_missing); }

void GoBackN::timed_out(PacketNumber oldest, Time) { next_ = oldest; }

void GoBackN::discarded(PacketNumber from) { next_ = std::min(next_, from); }

void GoBackN::truncate(PacketNumber end) {
  high_ = std::min(high_, end);
  next_ = std::min(next_, high_);
}

std::optional<PacketRange> GoBackN::resend() const {
  if (next_ == high_) return std::nullopt;
  return PacketRange{next_, static_cast<std::uint32_t>(high_ - next_)};
}

}  // namespace urnic::transport
