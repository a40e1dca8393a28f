// Where the device with a GID is: what neighbour discovery finds out on a real network (RFC 4861, RFC 826).
// Each kind of uplink that leads beyond this process has its own.
#pragma once

#include <optional>

#include "wire/identifiers.hpp"

namespace urnic::link {

class Neighbours {
 public:
  // The Ethernet address to send to; empty: this uplink knows of no such device.
  virtual std::optional<wire::MacAddress> find(const wire::Gid& gid) const = 0;

 protected:
  ~Neighbours() = default;
};

}  // namespace urnic::link
