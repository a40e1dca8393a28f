// What an engine has taken out of its pools: all of it comes back once nothing is under way any more.
#pragma once

#include <cstdint>

namespace urnic::engine {

struct EnginePools {
  std::uint32_t staging_arenas = 0;    // in turn, or put aside with payload that stays
  std::uint32_t staging_bytes = 0;     // that the next batch refers to, or nobody
  std::uint32_t held_packets = 0;      // that arrived out of order
  std::uint32_t frames_under_way = 0;  // on links that take time
  std::uint32_t frames_lent = 0;       // to other engines
  std::uint32_t timers = 0;            // armed
  std::uint32_t queue_pairs = 0;       // that wait for their turn or for their port
  std::uint32_t memory_stalls = 0;     // queue pairs that wait for memory
  std::uint32_t late_events = 0;       // that a moderated CQ or a full pipe puts off

  friend bool operator==(const EnginePools&, const EnginePools&) = default;
};

// Of an engine that has nothing to do. Two arenas are always in turn.
inline constexpr EnginePools kPoolsAtRest{.staging_arenas = 2};

}  // namespace urnic::engine
