// A line of some rate and the queue in front of it: when a packet that arrives now has left, and how many
// wait by then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/link/link_settings.hpp"

namespace urnic::link {

// What a frame takes of an Ethernet line besides its own bytes: preamble and start of frame (8), frame check
// sequence (4), the gap behind it (12).
inline constexpr std::uint32_t kEthernetOverheadBytes = 24;

class Line {
 public:
  // Allocates room for the queue, here and never again.
  explicit Line(const LinkSettings& settings);

  bool has_rate() const { return picoseconds_per_byte_ != 0; }
  // Packets accepted that have not begun to leave. `now` never goes back.
  std::uint32_t waiting(transport::Time now);
  bool is_full(transport::Time now) { return has_rate() && waiting(now) >= queue_packets_; }
  // Queues a packet of `bytes` and returns when its last bit has left. Must not be full.
  transport::Time accept(transport::Time now, std::uint32_t bytes);
  // When everything accepted has left; in the past if the line is idle.
  transport::Time clear_at() const { return clear_at_; }
  // How long `bytes` take, rounded up, and how many bytes the line carries in `span`.
  transport::Nanoseconds time_of(std::size_t bytes) const;
  std::size_t bytes_in(transport::Nanoseconds span) const;

 private:
  std::uint64_t picoseconds_per_byte_;
  std::uint32_t queue_packets_;
  transport::Time clear_at_{};
  std::uint64_t clear_fraction_ = 0;  // picoseconds behind clear_at_
  // When each waiting packet begins to leave: a ring.
  std::vector<transport::Time> begins_;
  std::size_t first_ = 0;
  std::uint32_t waiting_ = 0;
};

}  // namespace urnic::link
