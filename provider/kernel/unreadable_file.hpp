// Files that exist and cannot be read, as sysfs has them: the type of an empty place in the GID table. In the
// run directory they are empty files.
#pragma once

#include "provider/kernel/path_map.hpp"

namespace urnic::kernel {

// To be called with what opening `path` has given, or a negative number. If that is such a file, read fails
// with EINVAL from now on. Leaves errno as it was.
void make_unreadable_if_empty(int descriptor, const KernelPath& path);

}  // namespace urnic::kernel
