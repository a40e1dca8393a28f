// The devices' Ethernet side: a network interface for each device on the built-in switch, in this process's
// network namespace or in one of its own.
#pragma once

#include <optional>
#include <vector>

#include "device_model/control/fabric/configuration.hpp"
#include "device_model/control/fabric/device_interface.hpp"
#include "device_model/control/fabric/host_routes.hpp"
#include "device_model/control/network/own_namespace.hpp"
#include "device_model/control/network/routes_between_devices.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

struct HostNetwork {
  NetworkNamespace place;                      // invalid: that of this process
  std::vector<DeviceInterface> interfaces;     // empty: there is no such network
  memory::Descriptor news;                     // what InterfaceWatch listens to
  std::optional<RoutesBetweenDevices> routes;  // in a place of its own only
  std::optional<HostRoutes> asked;             // the routes of the interfaces' namespace, to be asked
  memory::Descriptor outside;                  // keeps the way outside open; invalid: there is none
};

// Makes what the configuration says. Call it before privileges are dropped and before any thread starts.
// Throws std::exception with a sentence.
HostNetwork open_host_network(const Configuration& configuration);

}  // namespace urnic::control
