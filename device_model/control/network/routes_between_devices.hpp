// The way of IP packets between devices whose interfaces are in one network namespace. Its kernel would hand
// over itself what one address sends to another one of its own; so must the packets be routed that cross the
// devices' links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "device_model/control/network/route_request.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

struct RoutedInterface {
  std::string name;
  std::uint32_t index = 0;
  std::vector<wire::Gid> addresses;
};

// Makes rules and routes, by which packets to another interface's address leave by an own interface's.
// Replaces the namespace's rule for local addresses, so call it in a namespace of its own, once. Throws
// std::system_error with a sentence.
void route_between_devices(const RouteSocket& kernel, const std::vector<RoutedInterface>& interfaces);

}  // namespace urnic::control
