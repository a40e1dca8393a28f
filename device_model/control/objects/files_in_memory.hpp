// Recognises file systems with files in memory only: tmpfs (shared memory) and hugetlbfs (huge pages).
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace urnic::control {

// Whether this device number is of such a file system. Searches the kernel's own mounts, then those of the
// process `pid`, then those of this process.
bool is_in_memory(dev_t device, pid_t pid);

// If this device number is of one of the kernel's own mounts (memfds, System V segments, anonymous shared
// mappings): the size of a page there, in bytes.
std::optional<std::uint64_t> page_bytes_of_kernel_mount(dev_t device);

}  // namespace urnic::control
