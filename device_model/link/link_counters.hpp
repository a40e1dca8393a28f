// What a link has done to packets, by cause, for one direction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device_model/link/link_direction.hpp"

namespace urnic::link {

// What was done to packets that went on.
struct TouchCounters {
  std::uint64_t duplicated = 0;  // copies
  std::uint64_t delayed = 0;     // beyond the link's own delay and its queue
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t congestion_marked = 0;  // for the first time; a packet that both mark counts by fault
};

struct LinkCounters {
  std::uint64_t packets = 0;          // that entered while the link had character, a fault plan or was cut
  TouchCounters by_link;              // by its settings: chance, jitter, the queue's length
  TouchCounters by_fault;             // by rules of the fault plan
  std::uint64_t not_ecn_capable = 0;  // would have been marked, by either
  std::uint64_t answered = 0;         // by a fault, in the receiver's place
  std::array<std::uint64_t, kDropCauses> dropped{};  // by DropCause

  std::uint64_t& drops(DropCause cause) { return dropped[static_cast<std::size_t>(cause)]; }
  std::uint64_t drops(DropCause cause) const { return dropped[static_cast<std::size_t>(cause)]; }
};

}  // namespace urnic::link
