// inotify_add_watch.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

extern "C" {

int entry_inotify_add_watch(int descriptor, const char* path, uint32_t mask)
    URNIC_ENTRY_POINT("inotify_add_watch");
int entry_inotify_add_watch(int descriptor, const char* path, uint32_t mask) {
  // libibverbs watches this folder for 5 seconds, so that udev can make a node that libibverbs could not
  // open. No udev makes nodes of a run directory: opening a device that is gone must fail at once.
  if (path != nullptr && strcmp(path, "/dev/char/") == 0 && stand_in_active()) {
    errno = ENOENT;
    return -1;
  }
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::inotify_add_watch(descriptor, kernel_path.get(), mask);
}

}  // extern "C"

}  // namespace urnic::kernel
