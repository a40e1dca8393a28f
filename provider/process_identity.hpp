// How a process identifies itself to the device process and lets it reach the process's memory.
#pragma once

#include <span>

#include "provider/freestanding/descriptor.hpp"

namespace urnic::provider {

struct ProcessIdentity {
  Descriptor pid_descriptor;  // invalid if pidfd_open fails: the device process then opens one itself
  Descriptor memory;          // /proc/self/mem, read and write

  // Opens both for this process. 0, or the errno of opening `memory`.
  int open();

  // What is sent of `all`, which begins with `pid_descriptor`: not that one if it is invalid.
  std::span<const int> to_send(std::span<const int> all) const {
    return all.subspan(pid_descriptor.valid() ? 0 : 1);
  }
};

// Lets the process at the other end of `socket`, if it is the same user's, use process_vm_readv and
// process_vm_writev on this process where the Yama security module would refuse them (prctl PR_SET_PTRACER).
void allow_memory_access_by_peer(int socket);

// Copies the program's name into `name`, NUL-terminated.
void copy_program_name(char (&name)[64]);

}  // namespace urnic::provider
