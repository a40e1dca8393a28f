// Finds the device that has a GID, as neighbour discovery does on a real network (RFC 4861, RFC 826). Each
// kind of uplink that leads out of this process has its own implementation.
#pragma once

#include <optional>

#include "wire/identifiers.hpp"

namespace urnic::link {

class Neighbours {
 public:
  // The Ethernet address to send to; empty if this uplink does not know the device.
  virtual std::optional<wire::MacAddress> find(const wire::Gid& gid) const = 0;

 protected:
  ~Neighbours() = default;
};

}  // namespace urnic::link
