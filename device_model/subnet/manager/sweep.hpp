// One sweep of the built-in subnet manager (IBTA 14.4): after it each port has a LID, each switch has the
// shortest routes to all of them, and each link that is up is active.
#pragma once

#include <cstddef>
#include <string>

#include "device_model/subnet/network.hpp"

namespace urnic::subnet {

struct SweepReport {
  std::size_t written = 0;  // Sets that agents have answered; 0: all was as it should be
  std::string refused;      // the first Set that an agent has refused, in words; empty: none
};

// Writes to `network` only what is not so already, so a second sweep writes nothing. LIDs that ports have
// stay. The first adapter's LID is told to all as the manager's. Links that are down or disabled are left as
// they are. Nodes are protected by no M_Key from it: it is a part of the fabric.
SweepReport sweep(Network& network);

// Of the links that end at adapters and are up, whether all take data.
bool all_adapters_are_active(const Network& network);

}  // namespace urnic::subnet
