// A device's port, as what sends over it sees it: takes frames, counts them, and says how many bytes it takes
// in this round.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device_model/engine/device/port_counters.hpp"
#include "device_model/link/port.hpp"
#include "device_model/transport/time.hpp"
#include "wire/frame.hpp"

namespace urnic::engine {

class PortEgress {
 public:
  // Both outlive this.
  PortEgress(link::Port& port, PortCounters& counters) : port_(port), counters_(counters) {}

  bool up(transport::Time now) const { return port_.up(now); }
  void transmit(const wire::Frame& frame, const link::PacketOrigin& origin, transport::Time now);

  // Bytes that the port takes at `now` without falling behind, less those promised to QPs in this `round`; at
  // least `least` if the line is idle.
  std::size_t room(transport::Time now, std::uint64_t round, std::size_t least) const;
  // Takes `bytes` of the round's room, which are transmitted when the round is carried out.
  void promise(std::uint64_t round, std::size_t bytes);
  // When the port has room again for `least` bytes.
  transport::Time room_at(std::size_t least) const { return port_.room_at(least); }

 private:
  link::Port& port_;
  PortCounters& counters_;
  std::uint64_t promised_in_ = 0;  // the round that `promised_` is of
  std::size_t promised_ = 0;
};

// The frame goes to a group: the lowest bit of the first byte of its destination says so (IEEE 802).
inline bool is_to_group(const wire::Frame& frame) {
  return !frame.headers.empty() && (frame.headers[0] & std::byte{1}) != std::byte{0};
}

}  // namespace urnic::engine
