// How a process shows the device process who it is and lets it reach its memory.
#pragma once

#include "provider/plugin/freestanding/descriptor.hpp"

namespace urnic::provider {

struct ProcessIdentity {
  Descriptor pid_descriptor;  // none where the process may not have one: the device process finds out itself
  Descriptor memory;          // /proc/self/mem, read and write

  // 0 or an errno.
  int open();
};

// Lets the process at the other end of `socket` use process_vm_readv and process_vm_writev on this one where
// the Yama security module would refuse it (prctl PR_SET_PTRACER).
void allow_memory_access_by_peer(int socket);

// Copies the program's name into `name`, NUL-terminated.
void copy_program_name(char (&name)[64]);

}  // namespace urnic::provider
