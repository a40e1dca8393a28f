// A work queue as a person sees it: its indices, and the WQEs between them. Read from shared memory while the
// program may write there: what is shown may be newer than what the device has taken, or torn.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "device_model/transport/work_request.hpp"

namespace urnic::engine {

// WQEs shown of one queue, at most.
inline constexpr std::uint32_t kMostShownWqes = 64;

struct QueueIndices {
  std::uint32_t slots = 0;
  std::uint32_t producer = 0;  // behind the last WQE that the program has posted
  std::uint32_t taken = 0;     // behind the last that the device has taken
  std::uint32_t retired = 0;   // behind the last that is complete

  // WQEs to show, from `retired` on. A program may have written any producer index.
  std::uint32_t shown() const {
    return producer - retired > slots ? 0 : std::min(producer - retired, kMostShownWqes);
  }
};

struct QueuedSend {
  transport::SendRequest request;  // without its spans
  std::uint32_t segments = 0;
};

struct QueuedReceive {
  std::uint32_t index = 0;
  std::uint32_t segments = 0;
  std::uint64_t length = 0;
  bool malformed = false;
};

struct QueuedSends {
  QueueIndices indices;
  std::vector<QueuedSend> wqes;  // the oldest that is not complete first
};

struct QueuedReceives {
  QueueIndices indices;
  std::vector<QueuedReceive> wqes;
};

}  // namespace urnic::engine
