// A device's counters under the names of the kernel's RDMA drivers.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/engine/device/key_violation.hpp"
#include "device_model/engine/device/port_counters.hpp"
#include "device_model/engine/management/management_queue_pair.hpp"
#include "device_model/link/line_errors.hpp"
#include "device_model/link/link_counters.hpp"
#include "device_model/link/udp/udp_counters.hpp"
#include "device_model/transport/counters.hpp"

namespace urnic::control {

struct CounterValue {
  std::string_view name;
  std::uint64_t value = 0;
};

// A copy taken between two batches of the device's engine.
struct CounterSnapshot {
  transport::Counters transport;
  engine::PortCounters port;
  engine::ManagementCounters management;
  engine::KeyViolation last_violation;
  GsiCounters gsi;
  // By the device's link towards the switch: cut, or its queue full; and at its port in an InfiniBand fabric.
  std::uint64_t transmit_discards = 0;
  std::uint64_t transmit_wait = 0;  // of its port in an InfiniBand fabric (link/lid_routes.hpp)
  link::LineErrors line = {};       // of that port, on what it receives
  link::LineErrors far_line = {};   // of the switch's port at the other end of its link
  // Datagrams of subnet management that its link had no room for. Those of other classes are
  // `management.no_room` and `transmit_discards` (fabric/datagram_links.hpp).
  std::uint64_t management_dropped = 0;
  bool link_up = true;
};
CounterSnapshot snapshot(Fabric& fabric, const ServedDevice& device);

// The files of ports/1/counters, as every InfiniBand port has them. Counters of impossible events (symbol
// errors) are always 0. docs/counters.md defines all counters.
std::vector<CounterValue> port_values(const CounterSnapshot& counters);
// The files of ports/1/hw_counters: mlx5's names if it has the counter, else another driver's.
std::vector<CounterValue> hardware_values(const CounterSnapshot& counters);

// What a link did to packets in one direction, by cause.
struct LinkCounterValue {
  std::string_view name;
  std::uint64_t value;
};
std::vector<LinkCounterValue> link_counter_values(const link::LinkCounters& counters);
// Frames that the switches of all engines dropped, by cause.
struct SwitchCounterValue {
  std::string_view name;
  std::uint64_t value;
};
std::vector<SwitchCounterValue> switch_values(Fabric& fabric);
// What a UDP wire sent, received and dropped.
struct UdpCounterValue {
  std::string_view name;
  std::uint64_t value;
};
std::vector<UdpCounterValue> udp_counter_values(const link::UdpCounters& counters);
// Both directions of the device's link, as "link_tx_lost", and its UDP wire, as "udp_sent"; not in sysfs.
std::vector<std::pair<std::string, std::uint64_t>> link_values(Fabric& fabric, const ServedDevice& device);

}  // namespace urnic::control
