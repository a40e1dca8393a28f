// What the routing tables of a network namespace say: by which interface, and from which of its addresses,
// packets to a destination leave. And its neighbour table, into which a sender's kernel puts whom it looks
// for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>

#include "device_model/memory/descriptor.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

// The way of what a socket without an address of its own sends to a destination.
struct HostRoute {
  int error = 0;                // there is no way: the kernel's errno, such as ENETUNREACH
  bool is_local = false;        // the destination is an address of the host itself
  std::uint32_t interface = 0;  // by which packets leave
  wire::Gid source = {};        // from which they leave; zero: the kernel names none
};

// `interface` is the one by which packets shall leave, as a link-local destination needs it, or 0.
using RouteLookup = std::function<HostRoute(const wire::Gid& destination, std::uint32_t interface)>;

// Has the kernel find the Ethernet address of a neighbour on `interface`. 0, or the kernel's errno.
using NeighbourSearch = std::function<int(const wire::Gid& address, std::uint32_t interface)>;

// Control thread only.
class HostRoutes {
 public:
  // Opens a netlink socket of this network namespace. Throws std::system_error.
  HostRoutes();
  // One that was opened so, perhaps in another namespace, whose routes it asks.
  explicit HostRoutes(memory::Descriptor opened) : socket_(std::move(opened)) {}
  memory::Descriptor release() && { return std::move(socket_); }

  // As RouteLookup.
  HostRoute find(const wire::Gid& destination, std::uint32_t interface) const;
  // As NeighbourSearch, as if something were to be sent there: the kernel asks by ARP or neighbour discovery
  // if it has to, and whoever reads its neighbour table sees the answer. EPERM: this process may not change
  // that table.
  int look_for_neighbour(const wire::Gid& address, std::uint32_t interface) const;
  // The source of that way. Empty: there is no route.
  std::optional<wire::Gid> source_for(const wire::Gid& destination, std::uint32_t interface) const;

 private:
  // 0 and the bytes of `answer` that are the kernel's, or an errno.
  int ask(std::span<const std::byte> request, std::span<std::byte>& answer) const;

  memory::Descriptor socket_;
};

}  // namespace urnic::control
