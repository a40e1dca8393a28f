// The network interfaces of devices: TAP interfaces with the devices' names and addresses, in the network
// namespace of the caller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device_model/control/network/route_request.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

// What a device's interface shall be.
struct InterfacePlan {
  std::string name;
  wire::MacAddress mac;
  std::vector<wire::Gid> addresses;
  std::uint32_t mtu = 0;  // bytes of an IP packet
};

// An interface as it is.
struct OpenInterface {
  memory::Descriptor tap;   // the device's end (link::open_tap)
  std::uint32_t index = 0;  // in its network namespace
};

// Makes the interface, gives it its addresses (an IPv4 one in its /24, an IPv6 one in its /64) and brings it
// up. It ends with the TAP's descriptor. Throws std::system_error with a sentence.
OpenInterface open_interface(const RouteSocket& kernel, const InterfacePlan& plan);

}  // namespace urnic::control
