// What programs are told of what the subnet manager does to an InfiniBand port: the unaffiliated asynchronous
// events (IBTA 11.6.3).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "device_model/engine/device/device_events.hpp"
#include "device_model/subnet/node.hpp"

namespace urnic::control {

// What of the port the events are about.
struct ManagedPort {
  bool is_active = false;
  wire::Lid lid;
  std::uint8_t lmc = 0;
  wire::Lid manager_lid;
  std::uint8_t manager_sl = 0;
  std::array<std::uint16_t, subnet::kPkeys> pkeys{};
  std::uint32_t reregistrations = 0;
};

ManagedPort managed_port_of(const subnet::Node& adapter);

// In the order in which a program can use them: that the port is active comes last, that it is not any more
// comes first.
std::vector<engine::DeviceEvent> events_between(const ManagedPort& before, const ManagedPort& after);

}  // namespace urnic::control
