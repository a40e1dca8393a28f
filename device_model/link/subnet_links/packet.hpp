// A packet inside the subnet, and the buffer that it occupies.
#pragma once

#include <cstdint>

#include "device_model/link/lid_routes.hpp"
#include "device_model/link/subnet_links/record_pool.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::link {

struct PooledFrame;

// Buffers are counted in blocks of so many bytes (IBTA 7.9.4).
inline constexpr std::uint32_t kBlockBytes = 64;

// What a packet occupies of the input buffer of a port, from the beginning of its transmission there until
// its last copy has left the node. The sender at the other end of the link has so many credits less.
struct Stay {
  LidPlace sender;
  std::uint8_t lane = 0;
  std::uint32_t blocks = 0;
  std::uint32_t copies = 1;  // of a packet for a group: they leave by several ports
};

// A packet for a group, and all of its copies. Where a group's tables are a tree, no switch gets it twice.
struct GroupPacket {
  std::uint32_t copies = 1;
  std::uint32_t arrivals = 0;  // at switches
};

struct Packet {
  PooledFrame* frame = nullptr;
  std::uint32_t stay = kNoRecord;   // none while it is in the adapter that sends it
  std::uint32_t group = kNoRecord;  // a GroupPacket; none: it is for one port
  std::uint32_t next = kNoRecord;   // of a PacketList
  transport::Time arrived{};        // at the node where it is
  std::uint32_t bytes = 0;          // on the link, with the VCRC
  std::uint8_t service_level = 0;
  std::uint8_t hops = 0;  // links that it has passed

  std::uint32_t blocks() const { return (bytes + kBlockBytes - 1) / kBlockBytes; }
};

using Packets = RecordPool<Packet>;

// Packets in the order of their arrival.
class PacketList {
 public:
  bool empty() const { return first_ == kNoRecord; }
  std::uint32_t front() const { return first_; }
  void push(Packets& packets, std::uint32_t packet) {
    packets[packet].next = kNoRecord;
    (empty() ? first_ : packets[last_].next) = packet;
    last_ = packet;
  }
  std::uint32_t pop(const Packets& packets) {
    const std::uint32_t packet = first_;
    first_ = packets[packet].next;
    return packet;
  }

 private:
  std::uint32_t first_ = kNoRecord;
  std::uint32_t last_ = kNoRecord;
};

}  // namespace urnic::link
