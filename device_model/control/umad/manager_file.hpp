// What a program has when it has opened /dev/infiniband/issmN, or waits for that: while it has it open, its
// port has a subnet manager.
#pragma once

#include <functional>

#include "device_model/control/loop/descriptor_disposal.hpp"
#include "device_model/control/loop/event_loop.hpp"
#include "device_model/control/loop/peer.hpp"
#include "device_model/control/umad/manager_seat.hpp"

namespace urnic::control {

class ManagerFile {
 public:
  // All but `socket` outlive the file. Calls `closed` (the last thing it does) when the program is gone or
  // has sent nonsense; the owner destroys the file then. Throws std::system_error: the program has too much
  // already.
  ManagerFile(EventLoop& loop, Fabric& fabric, DescriptorDisposal& disposal, ManagerSeat& seat,
              memory::Descriptor socket, std::function<void()> closed);
  ~ManagerFile();
  ManagerFile(const ManagerFile&) = delete;
  ManagerFile& operator=(const ManagerFile&) = delete;

  // What becomes of the program's wish: 0, it is the manager; or an errno.
  void answer(int error);

 private:
  void ready(std::uint32_t events);
  bool take_claim();
  void close();

  DescriptorDisposal& disposal_;
  ManagerSeat& seat_;
  const Peer peer_;
  memory::Descriptor socket_;
  std::function<void()> closed_;
  Charge charge_;
  bool has_claimed_ = false;
  ScopedWatch watch_;
};

}  // namespace urnic::control
