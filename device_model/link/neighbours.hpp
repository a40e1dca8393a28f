// Finds the device that has a GID, as neighbour discovery does on a real network (RFC 4861, RFC 826). Each
// kind of uplink that leads out of this process has its own implementation.
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::link {

// What is known of a GID's Ethernet address.
struct Neighbour {
  enum class State : std::uint8_t {
    unreachable,  // no device has the GID, or none has answered
    asked,        // the network is asked: find again some milliseconds later, until the state changes
    known,
  };
  State state = State::unreachable;
  wire::MacAddress mac{};  // if known: where to send to
};

class Neighbours {
 public:
  // Control thread. `asked` ends by itself, after at most a few seconds. `vlan`: where `gid` is; 0: in no
  // VLAN.
  virtual Neighbour find_in(std::uint16_t vlan, const wire::Gid& gid) = 0;
  Neighbour find(const wire::Gid& gid) { return find_in(0, gid); }

 protected:
  ~Neighbours() = default;
};

}  // namespace urnic::link
