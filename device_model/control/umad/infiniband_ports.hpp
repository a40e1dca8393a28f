// Management datagrams of InfiniBand ports: what programs send goes into the built-in fabric, and what
// arrives there goes to the port's performance agent or to programs.
#pragma once

#include <functional>
#include <map>

#include "device_model/control/fabric/fabric.hpp"
#include "device_model/control/gsi/gsi.hpp"
#include "device_model/control/gsi/performance_agent.hpp"
#include "device_model/subnet/network.hpp"
#include "wire/mad/mad_header.hpp"

namespace urnic::control {

class InfinibandPorts {
 public:
  // Whether a program took the datagram.
  using Taker = std::function<bool(ServedDevice& device, const GsiAddress& from, MadBytes mad)>;

  // Both outlive it. What `gsi` has a handler for does not reach the taker.
  InfinibandPorts(Fabric& fabric, Gsi& gsi, Taker taker);
  ~InfinibandPorts();
  InfinibandPorts(const InfinibandPorts&) = delete;
  InfinibandPorts& operator=(const InfinibandPorts&) = delete;

  // 0 or EINVAL: a directed route that does not begin at the device's port. May call the taker before it
  // returns, for this device, too.
  int send(const ServedDevice& device, const GsiAddress& to, MadBytes mad);

  // A program has opened the device's issmN, or closed it: as long as one has it open, the port says that a
  // subnet manager is there.
  void manager_came(const ServedDevice& device);
  void manager_went(const ServedDevice& device);

 private:
  void arrive(subnet::NodeIndex adapter, const subnet::Datagram& datagram);
  void set_manager(const ServedDevice& device, bool is_manager);
  void answer(ServedDevice& device, const subnet::Datagram& question, const wire::mad::Mad& mad);

  Fabric& fabric_;
  Gsi& gsi_;
  Taker taker_;
  PerformanceAgent performance_;
  std::map<std::uint32_t, unsigned> managers_;  // by device
};

}  // namespace urnic::control
