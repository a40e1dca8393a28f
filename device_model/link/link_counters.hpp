// What a link did to packets in one direction, by cause.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "device_model/link/link_direction.hpp"

namespace urnic::link {

// Changes to packets that were not dropped.
struct TouchCounters {
  std::uint64_t duplicated = 0;  // copies
  std::uint64_t delayed = 0;     // beyond the link's own delay and queue
  std::uint64_t reordered = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t congestion_marked = 0;  // first marks only; counted by fault if both mark
};

struct LinkCounters {
  std::uint64_t packets = 0;          // that entered while the link was impaired, cut or had a fault plan
  TouchCounters by_link;              // by its settings: random impairments, the queue's length
  TouchCounters by_fault;             // by rules of the fault plan
  std::uint64_t not_ecn_capable = 0;  // would have been marked, by settings or fault plan
  std::uint64_t answered = 0;         // by a fault, instead of the receiver
  std::uint64_t pauses = 0;           // of the device by the switch, and how long they were
  transport::Nanoseconds paused{0};
  std::uint64_t pauses_caused = 0;                   // of devices that feed the queue
  std::array<std::uint64_t, kDropCauses> dropped{};  // by DropCause

  std::uint64_t& drops(DropCause cause) { return dropped[static_cast<std::size_t>(cause)]; }
  std::uint64_t drops(DropCause cause) const { return dropped[static_cast<std::size_t>(cause)]; }
};

}  // namespace urnic::link
