#include "device_model/transport/congestion/flight_record.hpp"

#include <algorithm>
#include <bit>

namespace urnic::transport {

FlightRecord::FlightRecord(std::uint32_t packets)
    : entries_(std::bit_ceil(std::max(packets, 2u))), mask_(std::bit_ceil(std::max(packets, 2u)) - 1) {}

void FlightRecord::clear() { first_ = end_ = bytes_ = 0; }

void FlightRecord::sent(PacketNumber packet, std::uint32_t bytes, Time now) {
  if (end_ - first_ > mask_) return;
  at(end_++) = {packet, now, bytes, true};
  bytes_ += bytes;
}

std::uint64_t FlightRecord::find(PacketNumber packet) const {
  std::uint64_t low = first_;
  for (std::uint64_t high = end_; low < high;) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (at(middle).packet < packet) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

void FlightRecord::sent_again(PacketRange packets) {
  for (std::uint64_t place = find(packets.first); place != end_ && at(place).packet < packets.end(); ++place)
    at(place).measures = false;
}

void FlightRecord::discarded(PacketNumber from) {
  for (std::uint64_t place = find(from); place != end_; ++place) at(place).measures = false;
}

void FlightRecord::truncate(PacketNumber end) {
  for (; end_ != first_ && at(end_ - 1).packet >= end; --end_) bytes_ -= at(end_ - 1).bytes;
}

FlightRecord::Acknowledged FlightRecord::acknowledge(PacketNumber until, Time now) {
  Acknowledged result;
  for (; first_ != end_ && at(first_).packet < until; ++first_) {
    const Entry& entry = at(first_);
    result.bytes += entry.bytes;
    if (entry.packet + 1 == until && entry.measures) result.round_trip = now - entry.sent_at;
  }
  bytes_ -= result.bytes;
  return result;
}

Nanoseconds FlightRecord::round_trip_of(PacketNumber packet, Time now) const {
  const std::uint64_t place = find(packet);
  if (place == end_ || at(place).packet != packet || !at(place).measures) return Nanoseconds{0};
  return now - at(place).sent_at;
}

}  // namespace urnic::transport
