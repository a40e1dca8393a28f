// Random impairments of one packet: a pure function of the link's settings, the direction and the packet's
// identity.
#pragma once

#include <cstdint>

#include "device_model/link/chance.hpp"
#include "device_model/link/direction.hpp"
#include "device_model/link/link_settings.hpp"
#include "device_model/link/packet_identity.hpp"

namespace urnic::link {

struct PacketImpairments {
  bool lost = false;
  bool duplicated = false;
  bool reordered = false;
  bool corrupted = false;
  std::uint64_t corruption = 0;  // 64 random bits that choose the bit to invert
  transport::Nanoseconds jitter{0};
};

class RandomImpairments {
 public:
  // `device`: the number of the link's device.
  RandomImpairments(const LinkSettings& settings, std::uint32_t device, Direction direction);

  PacketImpairments of(const PacketIdentity& packet);
  // Only whether the packet is lost.
  bool loses(const PacketIdentity& packet);
  // 64 random bits that decide whether a queue marks the packet (random_early_marking.hpp).
  std::uint64_t marking(const PacketIdentity& packet);

 private:
  // The key of all hashes for the packet.
  std::uint64_t key_of(const PacketIdentity& packet);

  std::uint64_t key_;
  // Of the latest packet: most packets are of the same QP as the packet before.
  std::uint64_t sender_ = 0;
  std::uint64_t sender_key_;
  Chance loss_;
  Chance duplicate_;
  Chance reorder_;
  Chance corrupt_;
  std::uint64_t jitter_;  // nanoseconds
};

}  // namespace urnic::link
