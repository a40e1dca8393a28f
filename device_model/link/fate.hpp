// What chance does to a packet: a pure function of the link's settings, the direction and the packet's
// identity.
#pragma once

#include <cstdint>

#include "device_model/link/chance.hpp"
#include "device_model/link/direction.hpp"
#include "device_model/link/link_settings.hpp"
#include "device_model/link/packet_identity.hpp"

namespace urnic::link {

struct Fate {
  bool lost = false;
  bool duplicated = false;
  bool reordered = false;
  bool corrupted = false;
  std::uint64_t corruption = 0;  // 64 random bits that say which bit of the packet is turned over
  transport::Nanoseconds jitter{0};
};

class Fates {
 public:
  // `device` is the number of the device whose link it is.
  Fates(const LinkSettings& settings, std::uint32_t device, Direction direction);

  Fate of(const PacketIdentity& packet);
  // Its answer to one question.
  bool loses(const PacketIdentity& packet);

 private:
  // From which all draws about the packet follow.
  std::uint64_t key_of(const PacketIdentity& packet);

  std::uint64_t key_;
  // Of the latest packet: most follow one of the same QP.
  std::uint64_t sender_ = 0;
  std::uint64_t sender_key_;
  Chance loss_;
  Chance duplicate_;
  Chance reorder_;
  Chance corrupt_;
  std::uint64_t jitter_;  // nanoseconds
};

}  // namespace urnic::link
