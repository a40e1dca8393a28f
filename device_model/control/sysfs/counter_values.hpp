// A device's counters under the names that the kernel's RDMA drivers give them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/link/link_counters.hpp"
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
  std::uint64_t transmit_discards = 0;  // by the device's link towards the switch: cut, or its queue full
  bool link_up = true;
};
CounterSnapshot snapshot(Fabric& fabric, const ServedDevice& device);

// The files of ports/1/counters, as every InfiniBand port has them. What cannot happen here (symbol errors)
// is always 0. docs/counters.md defines all of these.
std::vector<CounterValue> port_values(const CounterSnapshot& counters);
// The files of ports/1/hw_counters: names of mlx5 where it has the counter, else of the driver that has.
std::vector<CounterValue> hardware_values(const CounterSnapshot& counters);

// What a link did to packets in one direction, by cause.
struct LinkCounterValue {
  std::string_view name;
  std::uint64_t value;
};
std::vector<LinkCounterValue> link_counter_values(const link::LinkCounters& counters);
// What the switch between the devices dropped, by cause; of the parts of all engines together.
struct SwitchCounterValue {
  std::string_view name;
  std::uint64_t value;
};
std::vector<SwitchCounterValue> switch_values(Fabric& fabric);
// Of both directions of the device's link, as "link_tx_lost"; no files show them.
std::vector<std::pair<std::string, std::uint64_t>> link_values(Fabric& fabric, const ServedDevice& device);

}  // namespace urnic::control
