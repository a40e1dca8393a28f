// Who is a port's subnet manager: one program at a time; those that may wait get their turn in the order in
// which they came (ib_umad's ib_umad_sm_open).
#pragma once

#include <deque>

#include "device_model/control/umad/infiniband_ports.hpp"

namespace urnic::control {

class ManagerFile;

class ManagerSeat {
 public:
  // Both outlive it.
  ManagerSeat(InfinibandPorts& ports, const ServedDevice& device) : ports_(ports), device_(device) {}

  // Tells `file` that it has the seat, at once or when it is free; or that it is refused, if it may not wait.
  void claim(ManagerFile& file, bool may_wait);
  // `file` goes, wherever it is.
  void leave(const ManagerFile& file);

 private:
  void seat(ManagerFile& file);

  InfinibandPorts& ports_;
  const ServedDevice& device_;
  const ManagerFile* holder_ = nullptr;
  std::deque<ManagerFile*> waiting_;
};

}  // namespace urnic::control
