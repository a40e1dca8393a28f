// Tells in the log, once a minute, of what no sound peer of this process's does on a wire: a scan, a forger,
// a peer that has gone or stands still. Nothing else would say that they come, but counters that nobody looks
// at.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"

namespace urnic::control {

class StrangerLines {
 public:
  // Does nothing unless a device is on a UDP wire or the switch has joined a LAN. `fabric` outlives it.
  StrangerLines(EventLoop& loop, Fabric& fabric);

  // The lines about what has come since the last call; empty: nothing.
  std::vector<std::string> lines();

 private:
  enum Kind : std::uint8_t {
    unknown_queue_pair,
    wrong_icrc,
    malformed,
    impossible_length,
    broken_streams,
    other_users,
    stalled_peers,
    kinds
  };
  using Counts = std::array<std::uint64_t, kinds>;

  Counts counts_of(const ServedDevice& device);
  Counts counts_of_lan();
  void tell();

  Fabric& fabric_;
  std::vector<Counts> told_;  // by device, then the LAN
  Timer timer_;
};

}  // namespace urnic::control
