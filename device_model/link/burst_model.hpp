// Losses in bursts (Gilbert 1960, Elliott 1963): a link that is in a good or a bad state, with a chance at
// every packet to change. The state belongs to the link, so that packets share it in the order in which they
// pass: repeatable in virtual time, and not where threads race.
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

  // The next packet passes; true if a burst takes it.
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
