// A line of a given rate and the queue in front of it: when a packet that arrives now has left, and how many
// packets and bytes are there then.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/link/link_settings.hpp"

namespace urnic::link {

// What Ethernet adds to a frame on the line: preamble and start of frame (8), frame check sequence (4),
// interframe gap (12).
inline constexpr std::uint32_t kEthernetOverheadBytes = 24;

class EgressQueue {
 public:
  // Allocates room for the queue, here and never again.
  explicit EgressQueue(const LinkSettings& settings);

  bool has_rate() const { return picoseconds_per_byte_ != 0; }
  // Accepted packets that have not begun to leave. `now` never decreases.
  std::uint32_t waiting(transport::Time now);
  // Bytes of the accepted packets that have not left: the one on the line counts until its last bit is sent.
  std::uint64_t bytes(transport::Time now);
  bool is_full(transport::Time now) { return has_rate() && waiting(now) >= queue_packets_; }
  // Queues a packet of `bytes` and returns when its last bit has left. Must not be full.
  transport::Time accept(transport::Time now, std::uint32_t bytes);
  // Nothing more begins to leave before `time`.
  void hold(transport::Time now, transport::Time time);
  // When no more than `bytes` are left, unless other packets enter; in the past if it is so already.
  transport::Time shrunk_at(std::uint64_t bytes) const;
  // When all accepted packets have left; in the past if the line is idle.
  transport::Time clear_at() const { return clear_at_; }
  // The time that `bytes` take, rounded up; and the bytes that the line carries in `span`.
  transport::Nanoseconds time_of(std::size_t bytes) const;
  std::size_t bytes_in(transport::Nanoseconds span) const;

 private:
  std::uint64_t picoseconds_per_byte_;
  std::uint32_t queue_packets_;
  transport::Time clear_at_{};
  std::uint64_t clear_fraction_ = 0;  // added to clear_at_
  struct Waiting {
    transport::Time begins;  // to leave
    std::uint32_t bytes;
  };
  // A ring buffer.
  std::vector<Waiting> packets_;
  std::size_t first_ = 0;
  std::uint32_t waiting_ = 0;
  std::uint64_t waiting_bytes_ = 0;
  std::uint32_t leaving_bytes_ = 0;  // of the packet that began to leave last
};

}  // namespace urnic::link
