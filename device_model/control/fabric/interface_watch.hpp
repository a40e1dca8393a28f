// Ports that lead to network interfaces of the host, or have one as the device's own, follow them: while none
// of a device's interfaces is up, or all its addresses are gone, its wire is down; an address that is gone
// leaves the GID table, and may come back on another interface; one that its own interface gets enters it, or
// an interface of a VLAN on that.
// The MTU is the smallest one of the interfaces. Programs get the events of a NIC.
#pragma once

#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "device_model/control/fabric/device_interface.hpp"
#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/link/udp/local_interface.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// What the kernel tells of the interfaces and addresses of this network namespace, for an InterfaceWatch.
// Throws std::system_error.
memory::Descriptor open_interface_news();

class InterfaceWatch {
 public:
  // Called after the change.
  struct Changes {
    std::function<void(const ServedDevice& device)> link;                    // up or down
    std::function<void(const ServedDevice& device, std::size_t index)> gid;  // or its interface
    // The devices' own interfaces, in the devices' order, after news of one of them.
    std::function<void(const std::vector<InterfaceState>& interfaces)> own = {};
  };

  // Opens a netlink socket if a device's port leads to an interface. Throws std::system_error.
  InterfaceWatch(EventLoop& loop, Fabric& fabric, Changes changes);
  // The same for the interfaces that are the devices' own, perhaps in another network namespace, of which
  // `news` is (open_interface_news). Invalid: there are none.
  InterfaceWatch(EventLoop& loop, Fabric& fabric, Changes changes, memory::Descriptor news);

 private:
  struct Interface {
    link::LocalInterface known;
    bool running = true;
    bool is_up = true;       // running or not: a person wants it
    std::uint32_t base = 0;  // of a VLAN's: the interface below; else 0
    std::uint16_t vlan = 0;
  };
  using Indexes = std::vector<std::uint32_t>;  // of interfaces
  struct Watched {
    ServedDevice& device;
    std::vector<Indexes> places;  // on a UDP wire, by GID index: where the address is; on a LAN its interface
    bool carrier = true;          // of the link, as last set
    // The addresses that its own interface and the VLANs' on it have, and on which each is.
    std::vector<std::pair<wire::Gid, std::uint32_t>> own = {};
  };
  // What the kernel has named since the list was asked for.
  struct List {
    std::uint16_t request = 0;  // RTM_GETLINK, then RTM_GETADDR; 0: no list is on its way
    bool again = false;         // messages were lost meanwhile
    Indexes links;
    std::vector<std::pair<wire::Gid, std::uint32_t>> addresses;
  };

  void watch_ways_out(ServedDevice& device);
  void begin(EventLoop& loop, memory::Descriptor news);
  void ask_for_list();
  void ask(std::uint16_t request);
  void end_list();
  void take_messages();
  void take_message(const nlmsghdr& message);
  void tell_of_own();
  void take_link(const nlmsghdr& message);
  void take_address(const nlmsghdr& message);
  void keep_listed_addresses(Watched& watched);
  void keep_listed_own_addresses(Watched& watched);
  void take_wire_address(Watched& watched, const wire::Gid& gid, std::uint32_t index, bool present);
  bool is_own(const Watched& watched, std::uint32_t index) const;
  void take_own_address(Watched& watched, const wire::Gid& gid, std::uint32_t index, bool present);
  void forget_own_addresses(std::uint32_t index);
  void follow_own_address(Watched& watched, const wire::Gid& gid, std::uint32_t index);
  void take_vlan(const nlmsghdr& message, Interface& interface);
  void rename_vlan(Watched& watched, const Interface& interface);
  void follow(Watched& watched);
  void follow_address(Watched& watched, std::size_t index);
  void move_groups(ServedDevice& device, std::size_t index, std::uint32_t interface);
  void follow_mtu(Watched& watched);
  void follow_state(Watched& watched);

  Fabric& fabric_;
  const Changes changes_;
  std::vector<Watched> watched_;
  std::map<std::uint32_t, Interface> interfaces_;  // of the host, by index
  List list_;
  memory::Descriptor socket_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
