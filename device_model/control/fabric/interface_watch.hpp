// Devices on UDP wires follow the interface of the host that has their addresses: while it is down, or has
// lost an address, the device's link is cut. Programs get the events of a NIC whose cable is pulled.
#pragma once

#include <functional>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class InterfaceWatch {
 public:
  // Calls `changed` when a device's link was cut, or is up again. Opens a netlink socket if a device is on a
  // UDP wire. Throws std::system_error.
  InterfaceWatch(EventLoop& loop, Fabric& fabric,
                 std::function<void(const ServedDevice& device, bool up)> changed);

 private:
  // What the kernel has said about a device's interface.
  struct Watched {
    ServedDevice& device;
    bool running = true;
    std::vector<bool> has_address;  // by GID index
    bool up = true;                 // of the link, as last set
  };

  void take_messages();
  void link_message(std::uint32_t interface, bool running, std::uint32_t mtu);
  void address_message(const wire::Gid& gid, bool present);
  void follow(Watched& watched);

  Fabric& fabric_;
  const std::function<void(const ServedDevice& device, bool up)> changed_;
  std::vector<Watched> watched_;
  memory::Descriptor socket_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
