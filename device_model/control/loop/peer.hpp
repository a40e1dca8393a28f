// The process at the other end of a program's connection, by the kernel's word and not by its own: what it
// has handed over (process.hpp) could be another process's.
#pragma once

#include <sys/types.h>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// The number of the process that called connect() on `socket`, as this process sees it; 0 if it cannot be
// told.
pid_t peer_number(int socket);

class Peer {
 public:
  // The process that called connect() on `socket`. Throws std::system_error if the kernel names none.
  explicit Peer(int socket);

  // Whether that process has CAP_NET_RAW at this moment, by what the kernel's capable() asks: in the
  // effective set of its main thread, and in the user namespace of this process. False once it has ended.
  bool has_net_raw() const;
  // Another descriptor of the peer's pidfd; empty if it has none.
  memory::Descriptor pidfd() const;

  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;  // as this process sees it; 0 if a PID namespace hides it
  uid_t uid_ = 0;  // in this process's user namespace
  memory::Descriptor pidfd_;
};

}  // namespace urnic::control
