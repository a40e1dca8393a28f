// Random early marking by the length of a queue in bytes, as switches do it for DCQCN ("Congestion Control
// for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1, after RED): a longer queue marks more
// packets, so that senders slow down before it is full, and not all at once.
#pragma once

#include <cstdint>

#include "device_model/link/chance.hpp"
#include "device_model/link/link_settings.hpp"

namespace urnic::link {

class RandomEarlyMarking {
 public:
  explicit constexpr RandomEarlyMarking(const LinkSettings& settings)
      : least_(settings.ecn_min_bytes), most_(settings.ecn_max_bytes), highest_(settings.ecn_probability) {}

  constexpr bool possible() const { return most_ != 0; }
  // Whether a packet that finds `queued` bytes is marked; `bits` are its 64 random bits.
  constexpr bool marks(std::uint64_t queued, std::uint64_t bits) const {
    if (queued > most_) return true;
    if (queued <= least_) return false;
    const double share = static_cast<double>(queued - least_) / static_cast<double>(most_ - least_);
    return Chance(share * highest_).happens(bits);
  }

 private:
  std::uint64_t least_;
  std::uint64_t most_;
  double highest_;
};

}  // namespace urnic::link
