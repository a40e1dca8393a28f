// Ports that lead to network interfaces of the host follow them: while none of a device's interfaces is up,
// or all its addresses are gone, its wire is down; an address that is gone leaves the GID table; the MTU is
// the smallest one of the interfaces. Programs get the events of a NIC.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class InterfaceWatch {
 public:
  // Called after the change.
  struct Changes {
    std::function<void(const ServedDevice& device)> link;  // up or down
    std::function<void(const ServedDevice& device, std::size_t index)> gid;
  };

  // Opens a netlink socket if a device's port leads to an interface. Throws std::system_error.
  InterfaceWatch(EventLoop& loop, Fabric& fabric, Changes changes);

 private:
  // What the kernel has said.
  struct Interface {
    std::uint32_t index = 0;
    std::uint32_t mtu = 0;
    bool running = true;
    bool has_address = true;
  };
  struct Watched {
    ServedDevice& device;
    std::vector<Interface> interfaces;  // on a UDP wire by GID index; on a LAN one
    bool carrier = true;                // of the link, as last set
  };

  void take_messages();
  void link_message(std::uint32_t index, bool running, std::uint32_t mtu);
  void address_message(const wire::Gid& gid, bool present);
  void follow_mtu(Watched& watched);
  void follow_state(Watched& watched);

  Fabric& fabric_;
  const Changes changes_;
  std::vector<Watched> watched_;
  memory::Descriptor socket_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
