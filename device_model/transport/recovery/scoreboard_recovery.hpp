// What the recoveries that keep what arrives out of order have in common: a scoreboard, and what it answers.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device_model/transport/recovery/loss_recovery.hpp"
#include "device_model/transport/recovery/scoreboard.hpp"

namespace urnic::transport {

class ScoreboardRecovery : public LossRecovery {
 public:
  bool keeps_out_of_order() const final { return true; }
  bool covers(PacketNumber packet) const final { return board_.covers(packet); }
  bool has_arrived(PacketNumber packet) const final { return board_.has_arrived(packet); }
  PacketNumber first_missing(PacketNumber from, PacketNumber limit) const final {
    return board_.first_missing(from, limit);
  }

 protected:
  // Room for `window` packets from the first that is not acknowledged.
  explicit ScoreboardRecovery(std::uint32_t window) : board_(window) {}

  // Calls `act` with every packet of `range` that the scoreboard covers, in order.
  template <typename Act>
  void for_covered(PacketRange range, Act act) {
    for (PacketNumber packet = std::max(range.first, board_.unacknowledged());
         packet < range.end() && board_.covers(packet); packet = packet + 1) {
      act(packet);
    }
  }
  // All of `range` is lost, even what is known to have arrived.
  void doubt(PacketRange range) {
    for_covered(range, [this](PacketNumber packet) { board_.doubt(packet); });
  }

  Scoreboard board_;
};

}  // namespace urnic::transport
