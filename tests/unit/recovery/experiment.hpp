// One point of the tables: what is sent over which link with which recovery.
#pragma once

#include <cstdint>

#include "tests/unit/recovery/laboratory.hpp"

namespace urnic::transport::lab {

struct Experiment {
  RecoveryMode mode = RecoveryMode::sack;
  WorkOpcode operation = WorkOpcode::rdma_write;  // rdma_write, rdma_read or send
  std::uint32_t path_mtu = 4096;
  Nanoseconds delay = std::chrono::microseconds(5);  // each way
  double bits_per_second = 100e9;
  LossSettings loss;  // in both directions
  Peer peer = Peer::same_process;
  std::uint64_t seed = 1;
};

// Settings for it: windows of 16,384 packets, which is more than 8 bandwidth-delay products of all tables.
// irn has its cap at one bandwidth-delay product, and its timeouts as the paper gives them, 100 and 320 us,
// but no less than 3 and 10 round trips.
LaboratorySettings laboratory_settings(const Experiment& experiment);

// The wire's time for a full data packet, and a round trip of one without waiting.
Nanoseconds data_slot(const Experiment& experiment);
Nanoseconds round_trip(const Experiment& experiment);

// The most data that the link can carry, in bits per second.
double line_rate(const Experiment& experiment);

// The share of what the link can carry at its loss that a sender keeps which fills one hole in each round
// trip. Holes are 1 / p packets apart.
double one_hole_a_round_trip(const Experiment& experiment);

// Data per time of a go-back-N sender by calculation, in bits per second. A packet that is lost costs its
// slot and a round trip of packets that are dropped behind it. The responder sends one NAK per hole: if that
// or the packet's second transmission is lost, only the local ACK timer helps, and again if its transmission
// is lost.
double gbn_closed_form(const Experiment& experiment);

}  // namespace urnic::transport::lab
