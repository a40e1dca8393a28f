// Finds the file of a program's shared memory, so that the device process can map it, too.
#pragma once

#include <sys/types.h>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/descriptor_facts.hpp"

namespace urnic::control {

// Opens the file if it is of tmpfs (a memfd, a file in /dev/shm) and this process can get at it without a
// privilege: by a descriptor that the process `pid` has of it, or by its name in /dev/shm. Looks at the first
// few hundred of these only. Blocks nowhere, whatever the process does meanwhile. Invalid: not found.
memory::Descriptor open_shared_file(pid_t pid, const memory::FileNumber& file, bool writable);

}  // namespace urnic::control
