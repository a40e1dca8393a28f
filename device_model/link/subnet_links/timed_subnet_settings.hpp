// What the inside of an InfiniBand subnet is like where packets take time there.
#pragma once

#include <cstdint>

#include "device_model/transport/time.hpp"

namespace urnic::link {

struct TimedSubnetSettings {
  std::uint32_t buffer_bytes = 32768;     // of each port, for each lane; at least the longest packet
  transport::Nanoseconds hop_delay{200};  // of a cable and what is behind it, beside the time on the line
  std::uint32_t most_packets = 32768;     // inside at a time
};

}  // namespace urnic::link
