// Losses in bursts (Gilbert 1960, Elliott 1963): the link is in a good or a bad state, and each packet may
// change the state. Packets share the state in the order in which they pass: repeatable in virtual time, but
// not where threads race.
#pragma once

#include <cstdint>

#include "device_model/link/chance.hpp"
#include "device_model/link/direction.hpp"
#include "device_model/link/link_settings.hpp"

namespace urnic::link {

class BurstModel {
 public:
  BurstModel(const LinkSettings& settings, std::uint32_t device, Direction direction)
      : key_(mix(mix(settings.seed, device), 0x10u + static_cast<std::uint64_t>(direction))),
        start_(settings.burst_start),
        end_(settings.burst_end),
        loss_(settings.burst_loss) {}

  // Counts the next packet; true if a burst loses it.
  bool takes_next() {
    if (!start_.possible()) return false;
    const std::uint64_t packet = mix(key_, ++packets_);
    const bool changes = (bad_ ? end_ : start_).happens(mix(packet, 1));
    if (changes) bad_ = !bad_;
    return bad_ && loss_.happens(mix(packet, 2));
  }

 private:
  std::uint64_t key_;
  Chance start_;
  Chance end_;
  Chance loss_;
  std::uint64_t packets_ = 0;
  bool bad_ = false;
};

}  // namespace urnic::link
