// File systems whose files are in memory, and nowhere else: shared memory (tmpfs) and huge pages (hugetlbfs).
#pragma once

#include <sys/types.h>

namespace urnic::control {

// Whether the file system with this device number is one of them. It is looked up among the
// kernel's own mounts, then among those of the process `pid` and of this one.
bool is_in_memory(dev_t device, pid_t pid);

}  // namespace urnic::control
