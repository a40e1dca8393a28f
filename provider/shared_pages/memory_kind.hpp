// What the kernel says of memory that is to be exchanged (/proc/self/smaps, proc(5)).
#pragma once

#include "device_model/abi/control.hpp"

namespace urnic::provider {

// Properties that the new mapping needs, too.
struct MemoryKind {
  bool not_in_children = false;  // MADV_DONTFORK
  bool not_in_dumps = false;     // MADV_DONTDUMP
};

// False: the range is not to be exchanged. It is no single mapping of private memory, readable and writable;
// or it has a property that shared memory has not (locked, zeroed in a child, a growing stack, watched by the
// program's own userfaultfd); or the process has asynchronous I/O of the kernel, which may be under way into
// these pages; or it runs in valgrind.
bool look_at_memory(const abi::PageRange& range, MemoryKind& kind);

}  // namespace urnic::provider
