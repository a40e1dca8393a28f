// access and its relatives, and chdir.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/shown_status.hpp"

namespace urnic::kernel {

namespace {

// True, with EACCES in errno, if the program asks to execute a device node. The socket's mode might allow it.
bool asks_to_execute_node(const KernelPath& path, int mode) {
  if ((mode & X_OK) == 0 || !path.is_mapped()) return false;
  struct stat status;
  if (real::stat(path.get(), &status) != 0) return false;
  show_path_status(path.get(), status);
  if (!S_ISCHR(status.st_mode)) return false;
  errno = EACCES;
  return true;
}

}  // namespace

extern "C" {

int entry_access(const char* path, int mode) URNIC_ENTRY_POINT("access");
int entry_access(const char* path, int mode) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return asks_to_execute_node(kernel_path, mode) ? -1 : real::access(kernel_path.get(), mode);
}

int entry_euidaccess(const char* path, int mode) URNIC_ENTRY_POINT("euidaccess");
int entry_euidaccess(const char* path, int mode) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return asks_to_execute_node(kernel_path, mode) ? -1 : real::euidaccess(kernel_path.get(), mode);
}
int entry_eaccess(const char* path, int mode) URNIC_ENTRY_ALIAS("eaccess", "euidaccess");

int entry_faccessat(int directory, const char* path, int mode, int flags) URNIC_ENTRY_POINT("faccessat");
int entry_faccessat(int directory, const char* path, int mode, int flags) {
  const KernelPath kernel_path(directory, path);
  return asks_to_execute_node(kernel_path, mode) ? -1
                                                 : real::faccessat(directory, kernel_path.get(), mode, flags);
}

int entry_chdir(const char* path) URNIC_ENTRY_POINT("chdir");
int entry_chdir(const char* path) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::chdir(kernel_path.get());
}

}  // extern "C"

}  // namespace urnic::kernel
