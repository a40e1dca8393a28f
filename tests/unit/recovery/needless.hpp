// How many data packets arrive twice because they were sent again needlessly, over links that reorder.
#pragma once

#include <cstdint>

#include "tests/unit/recovery/experiment.hpp"

namespace urnic::transport::lab {

struct Reordering {
  double share = 0.1;         // of the packets of either direction that are held back
  std::uint32_t packets = 8;  // until so many have overtaken them
};
void hold_back(link::LinkSettings& impairments, const Reordering& reordering, const Experiment& experiment);

struct Load {
  std::uint32_t message_packets = 10;
  std::uint32_t messages = 100;
  bool one_at_a_time = true;  // else all are posted at once
};

struct Needless {
  std::uint64_t sent_again = 0;     // packets, of all that the requester has sent
  std::uint64_t arrived_twice = 0;  // data packets
  std::uint64_t lost_data = 0;      // packets of the data's direction
  std::uint64_t lost_answers = 0;   // and of the other
  std::uint64_t completed = 0;      // messages
  Nanoseconds time{0};              // until all were complete
};

Needless measure_needless(const Experiment& experiment, const Reordering& reordering, const Load& load);

}  // namespace urnic::transport::lab
