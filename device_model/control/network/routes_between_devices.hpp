// The way of IP packets between devices whose interfaces are in one network namespace. Its kernel would hand
// over itself what one address sends to another one of its own; so must the packets be routed that cross the
// devices' links.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "device_model/control/fabric/device_interface.hpp"
#include "device_model/control/network/route_request.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

class RoutesBetweenDevices {
 public:
  // Makes rules and routes, by which packets to another interface's address leave by an own interface's.
  // Replaces the namespace's rule for local addresses, so make one in a namespace of its own. Throws
  // std::system_error with a sentence.
  RoutesBetweenDevices(RouteSocket kernel, const std::vector<std::string>& names,
                       const std::vector<InterfaceState>& interfaces);

  // The interfaces, in the same order, are so now. What the kernel refuses is logged, and tried again with
  // the next call.
  void follow(const std::vector<InterfaceState>& interfaces);

 private:
  struct Route {
    std::uint32_t interface = 0;
    wire::Gid source = {};  // none: the destination is this host's
    friend bool operator==(const Route&, const Route&) = default;
  };
  struct Ways {
    std::set<std::pair<wire::Gid, std::uint32_t>> rules;          // from the address by the table
    std::map<std::pair<wire::Gid, std::uint32_t>, Route> routes;  // to the address in the table
  };

  Ways wanted_by(const std::vector<InterfaceState>& interfaces) const;
  // No error, or the first refusal.
  std::error_code change_to(const Ways& wanted);
  void remove_all_but(const Ways& wanted);

  RouteSocket kernel_;
  bool has_ipv6_;  // asked for at the start: later this process may make no socket of it
  Ways made_;
  bool may_change_ = true;
};

}  // namespace urnic::control
