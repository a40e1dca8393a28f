// Recognises file systems with files in memory only: tmpfs (shared memory) and hugetlbfs (huge pages).
#pragma once

#include <sys/types.h>

namespace urnic::control {

// Whether this device number is of such a file system. Searches the kernel's own mounts, then those of the
// process `pid`, then those of this process.
bool is_in_memory(dev_t device, pid_t pid);

// Whether this device number is of the kernel's own mount for shared memory without huge pages: memfds,
// System V segments and anonymous shared mappings.
bool is_shared_memory_mount(dev_t device);

}  // namespace urnic::control
