// How packets leave by a port of an InfiniBand subnet in which they take time: the rate of its link, its
// virtual lanes, and how long a packet may wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace urnic::link {

// VL 0 to 14 carry data; VL 15 is for subnet management alone (IBTA 3.5.7).
inline constexpr std::size_t kDataLanes = 15;
inline constexpr std::size_t kServiceLevels = 16;

// An entry of a VLArbitration table (IBTA 14.2.5.9).
struct LaneWeight {
  std::uint8_t lane = 0;
  std::uint8_t weight = 0;  // in 64 bytes; 0: the entry is skipped
};

using LaneOfServiceLevel = std::array<std::uint8_t, kServiceLevels>;

// As the subnet manager has left it in PortInfo, SLtoVL and VLArbitration.
struct LidOutput {
  std::uint32_t megabits_per_second = 0;  // of data, without the line's encoding
  std::uint8_t line_width = 1;            // how many lines side by side make the link
  std::uint8_t lanes = 1;                 // virtual ones that carry data, of this end
  std::uint8_t most_lanes = kDataLanes;   // that a manager may have it carry data
  std::uint8_t head_of_queue_life = 0;    // code (IBTA 14.2.5.6)
  std::uint8_t stall_count = 0;           // packets; 0: the lane never stalls
  std::uint8_t high_limit = 0;            // in 4096 bytes; 255: none
  std::vector<LaneWeight> high = {};
  std::vector<LaneWeight> low = {};
  std::vector<LaneOfServiceLevel> lane_of = {};  // by the input port; an adapter has one table
};

}  // namespace urnic::link
