// Errors of a line of InfiniBand, as the port at its end counts them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace urnic::link {

struct LineErrors {
  std::uint64_t damaged = 0;    // packets with a wrong VCRC
  std::uint64_t integrity = 0;  // how often there were too many of them
  std::uint64_t silences = 0;   // how often no packet of flow control came for too long
  friend bool operator==(const LineErrors&, const LineErrors&) = default;
};

// Whether too many packets are damaged (IBTA 7.12.2): each one counts up, each good one down, as in Linux's
// drivers ipath and qib, where their hardware does not count.
class LinkIntegrity {
 public:
  // The port's packet number `received` is damaged. True: these are more than `most` now, and the count
  // begins anew.
  bool damaged(std::uint64_t received, std::uint8_t most) {
    const std::uint64_t good = received - std::min(received, received_ + 1);
    received_ = received;
    count_ -= std::min(count_, good);
    if (++count_ <= most) return false;
    count_ = 0;
    return true;
  }
  // The link has gone down.
  void forget() { count_ = 0; }

 private:
  std::uint64_t count_ = 0;
  std::uint64_t received_ = 0;  // at the last damaged one
};

}  // namespace urnic::link
