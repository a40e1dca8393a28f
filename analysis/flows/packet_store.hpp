// The latest packets of a capture, by the order in which they were sent. Bounded: the oldest are forgotten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "analysis/flows/packet.hpp"

namespace urnic::analysis {

// A packet's place in the capture, from 0; it stays when older packets are forgotten.
using PacketId = std::uint64_t;
inline constexpr PacketId kNoPacket = ~PacketId{0};

class PacketStore {
 public:
  explicit PacketStore(std::size_t most) : most_(most) {}

  // Adds a packet, whose number must be above all others'.
  PacketId add(const Packet& packet) {
    packets_.push_back(packet);
    if (packets_.size() > most_) {
      packets_.pop_front();
      ++first_;
    }
    return end() - 1;
  }

  // Ids from begin() to end() are here.
  PacketId begin() const { return first_; }
  PacketId end() const { return first_ + packets_.size(); }
  bool has(PacketId id) const { return id >= begin() && id < end(); }
  // The packet must be here.
  const Packet& operator[](PacketId id) const { return packets_[id - first_]; }
  Packet& operator[](PacketId id) { return packets_[id - first_]; }
  // The packet with this first record; kNoPacket if it is not here.
  PacketId find(FrameNumber number) const;

 private:
  std::size_t most_;
  PacketId first_ = 0;
  std::deque<Packet> packets_;
};

}  // namespace urnic::analysis
