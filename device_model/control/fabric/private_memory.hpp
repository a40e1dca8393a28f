// What happens to private memory that programs register.
#pragma once

#include <cstdint>

namespace urnic::control {

enum class PrivateMemory : std::uint8_t {
  shared_when_it_pays,  // as SharingRule says
  shared,               // wherever it is possible
  copied,
};

// Of the regions whose memory the device process wanted to be shared.
struct SharingCounters {
  std::uint64_t shared = 0;
  std::uint64_t refused_for_threads = 0;  // the program has others, which could not be made to wait
  std::uint64_t refused_for_memory = 0;   // its pages have a property that shared ones have not
  std::uint64_t refused_by_kernel = 0;
};

}  // namespace urnic::control
