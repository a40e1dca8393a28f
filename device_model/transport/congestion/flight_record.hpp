// What congestion control must know of each request packet under way: its length, and when it was sent. A
// queue in the order of packet numbers. A READ counts with its request alone: its responses are the peer's to
// pace.
#pragma once

#include <cstdint>

#include "device_model/transport/lazy_array.hpp"
#include "device_model/transport/packet_number.hpp"
#include "device_model/transport/time.hpp"

namespace urnic::transport {

class FlightRecord {
 public:
  // Room for `packets` that are under way. Throws std::bad_alloc.
  explicit FlightRecord(std::uint32_t packets);
  void clear();

  // Bytes of all packets in the record.
  std::uint64_t bytes() const { return bytes_; }

  // Behind all that are in the record. A packet for which there is no room is not counted.
  void sent(PacketNumber packet, std::uint32_t bytes, Time now);
  // A packet within `packets` was sent again: nothing is measured by it.
  void sent_again(PacketRange packets);
  // All packets from `from` on may never have left.
  void discarded(PacketNumber from);
  // Packets from `end` on are taken back.
  void truncate(PacketNumber end);

  struct Acknowledged {
    std::uint64_t bytes = 0;
    // How long the last of these packets took; zero: not known.
    Nanoseconds round_trip{0};
  };
  // Packets before `until` have arrived. Takes them out.
  Acknowledged acknowledge(PacketNumber until, Time now);
  // How long `packet`, whose arrival is reported now, took; zero: not known.
  Nanoseconds round_trip_of(PacketNumber packet, Time now) const;

 private:
  struct Entry {
    PacketNumber packet;
    Time sent_at;
    std::uint32_t bytes;
    bool measures;  // it was sent once
  };
  Entry& at(std::uint64_t place) { return entries_[place & mask_]; }
  const Entry& at(std::uint64_t place) const { return entries_[place & mask_]; }
  // The first place whose packet is not before `packet`.
  std::uint64_t find(PacketNumber packet) const;

  LazyArray<Entry> entries_;
  std::uint64_t mask_;
  std::uint64_t first_ = 0;  // free-running places
  std::uint64_t end_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace urnic::transport
