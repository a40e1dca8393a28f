// Finds the file or segment of a program's shared memory, so that the device process can map it, too.
#pragma once

#include <sys/types.h>

#include "device_model/memory/descriptor.hpp"
#include "device_model/memory/descriptor_facts.hpp"

namespace urnic::control {

// Opens the file if it is in memory (a memfd, a file in /dev/shm or in /dev/hugepages) and this process can
// get at it without a privilege: by a descriptor that the process `pid` has of it, or by its name in
// /dev/shm. Looks at the first few hundred of these only. Blocks nowhere, whatever the process does
// meanwhile. Invalid: not found.
memory::Descriptor open_shared_file(pid_t pid, const memory::FileNumber& file, bool writable);

// Whether identifiers of System V segments mean here what they mean to the process `pid`: both are in one IPC
// namespace (ipc_namespaces(7)).
bool shares_segment_identifiers(pid_t pid);

}  // namespace urnic::control
