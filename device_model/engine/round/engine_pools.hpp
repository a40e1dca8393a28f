// What an engine has taken from its pools: all of it returns once nothing is under way.
#pragma once

#include <cstdint>

namespace urnic::engine {

struct EnginePools {
  std::uint32_t staging_arenas = 0;    // in turn, or put aside with kept payload
  std::uint32_t staging_bytes = 0;     // in use by the next batch, or not yet freed
  std::uint32_t held_packets = 0;      // that arrived out of order
  std::uint32_t frames_under_way = 0;  // on links that take time
  std::uint32_t frames_lent = 0;       // payloads lent to other engines
  std::uint32_t timers = 0;            // armed
  std::uint32_t queue_pairs = 0;       // waiting for their turn or for their port
  std::uint32_t memory_stalls = 0;     // waiting for memory
  std::uint32_t late_events = 0;       // that a moderated CQ or a full pipe delays

  friend bool operator==(const EnginePools&, const EnginePools&) = default;
};

// An idle engine's pools. Two arenas are always in turn.
inline constexpr EnginePools kPoolsAtRest{.staging_arenas = 2};

}  // namespace urnic::engine
