// A device's wire that is UDP port 4791 of this host, and the interface that has its addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/link/udp/local_interface.hpp"
#include "device_model/link/udp/udp_port.hpp"

namespace urnic::control {

struct UdpWire {
  link::LocalInterface interface;                // of the first address; of several, the smallest MTU
  std::vector<link::LocalInterface> interfaces;  // by GID index
  std::vector<wire::Gid> addresses;              // by GID index, also while an interface has lost one
  link::UdpPort port;
};

// Opens the sockets of a device's addresses, its GIDs. Throws std::runtime_error with a sentence: an address
// is not this host's, or is in use, or the interface is too small for any path MTU.
std::unique_ptr<UdpWire> open_udp_wire(const DeviceSettings& settings, std::uint32_t number);

}  // namespace urnic::control
