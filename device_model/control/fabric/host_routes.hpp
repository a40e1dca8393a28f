// What the host's routing table says: from which of its addresses packets to a destination leave.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

// Control thread only.
class HostRoutes {
 public:
  // Opens a netlink socket. Throws std::system_error.
  HostRoutes();

  // `interface` is that of a link-local address, or 0. Empty: there is no route.
  std::optional<wire::Gid> source_for(const wire::Gid& destination, std::uint32_t interface) const;

 private:
  memory::Descriptor socket_;
};

}  // namespace urnic::control
