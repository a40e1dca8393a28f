// What a program has when it has opened /dev/infiniband/issmN: while it does, its port has a subnet manager.
#pragma once

#include <functional>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/umad/infiniband_ports.hpp"

namespace urnic::control {

class ManagerFile {
 public:
  // All but `socket` outlive the file. Calls `closed` (the last thing it does) when the program is gone; the
  // owner destroys the file then. Throws std::system_error: the program has too much already.
  ManagerFile(EventLoop& loop, Fabric& fabric, DescriptorDisposal& disposal, InfinibandPorts& ports,
              const ServedDevice& device, memory::Descriptor socket, std::function<void()> closed);
  ~ManagerFile();
  ManagerFile(const ManagerFile&) = delete;
  ManagerFile& operator=(const ManagerFile&) = delete;

 private:
  void close();

  DescriptorDisposal& disposal_;
  InfinibandPorts& ports_;
  const ServedDevice& device_;
  const Peer peer_;
  memory::Descriptor socket_;
  std::function<void()> closed_;
  Charge charge_;
  ScopedWatch watch_;
};

}  // namespace urnic::control
