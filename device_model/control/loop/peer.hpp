// The process at the other end of a program's connection, as the kernel names it: the pidfd and memory that a
// program sends (process.hpp) could be another process's.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

// The PID of the process that called connect() on `socket`, in this process's PID namespace; 0 if unknown.
pid_t peer_number(int socket);

class Peer {
 public:
  // The process that called connect() on `socket`. Throws std::system_error if the kernel does not name it.
  explicit Peer(int socket);

  // Whether that process has CAP_NET_RAW now, as the kernel's capable() decides: in the effective set of its
  // main thread, in this process's user namespace. False if the process has ended.
  bool has_net_raw() const;
  // Whether that process may bind sockets to `port`: below net.ipv4.ip_unprivileged_port_start it needs
  // CAP_NET_BIND_SERVICE.
  bool may_bind(std::uint16_t port) const;
  // A duplicate of the peer's pidfd; empty if it has none.
  memory::Descriptor pidfd() const;

  pid_t pid() const { return pid_; }

 private:
  bool has_capability(int capability) const;

  pid_t pid_ = 0;  // in this PID namespace; 0 if hidden
  uid_t uid_ = 0;  // in this user namespace
  memory::Descriptor pidfd_;
};

}  // namespace urnic::control
