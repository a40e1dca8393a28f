// The network interface that has an address of this host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "wire/identifiers.hpp"

namespace urnic::link {

struct LocalInterface {
  std::string name;
  std::uint32_t index = 0;
  std::uint32_t mtu = 0;  // bytes of an IP packet
};

// Opens a socket for the question. Empty: no interface has the address. Throws std::system_error.
std::optional<LocalInterface> interface_of(const wire::Gid& address);

// Bytes of an IP packet on the interface. Throws std::system_error.
std::uint32_t interface_mtu(const std::string& interface);

// The largest path MTU of InfiniBand, 256 to 4096 bytes, whose packets with all headers fit into IP packets
// of `interface_mtu` bytes; 0: none does.
std::uint32_t path_mtu_for(std::uint32_t interface_mtu);

}  // namespace urnic::link
