// A device's network interface, opened (network/host_network.hpp).
#pragma once

#include <cstdint>

#include "device_model/link/udp/local_interface.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

struct DeviceInterface {
  std::uint32_t device = 0;        // its index in the configuration
  memory::Descriptor tap;          // the device's end of the interface
  link::LocalInterface interface;  // as its network namespace knows it
};

}  // namespace urnic::control
