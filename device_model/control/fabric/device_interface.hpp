// A device's network interface: opened (network/host_network.hpp), and what it is now.
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/link/udp/local_interface.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

struct DeviceInterface {
  std::uint32_t device = 0;        // its index in the configuration
  memory::Descriptor tap;          // the device's end of the interface
  link::LocalInterface interface;  // as its network namespace knows it
};

struct InterfaceState {
  std::uint32_t index = 0;  // in its network namespace
  bool running = true;
  std::vector<wire::Gid> addresses;
};

}  // namespace urnic::control
