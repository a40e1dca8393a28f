// stat and its relatives: paths are mapped, and sockets that are device nodes are shown as character devices.
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "provider/kernel/device_node.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/shown_status.hpp"

namespace urnic::kernel {

namespace {

// The version argument of __xstat: 0 and 1 both mean today's struct stat on x86-64.
bool known_version(int version) {
  if (version == 0 || version == 1) return true;
  errno = EINVAL;
  return false;
}

// The entry points share these functions and never call one another: such a call could reach another
// interposer's function of the same name, which would call the stand-in again.

int stat_path(const char* path, struct stat* status) {
  const KernelPath kernel_path(AT_FDCWD, path);
  const int result = real::stat(kernel_path.get(), status);
  if (result == 0) show_path_status(kernel_path.get(), *status);
  return result;
}

int stat_link(const char* path, struct stat* status) {
  const KernelPath kernel_path(AT_FDCWD, path);
  const int result = real::lstat(kernel_path.get(), status);
  if (result == 0) show_path_status(kernel_path.get(), *status);
  return result;
}

int stat_descriptor(int descriptor, struct stat* status) {
  const int result = real::fstat(descriptor, status);
  if (result == 0) show_descriptor_status(descriptor, *status);
  return result;
}

int stat_path_at(int directory, const char* path, struct stat* status, int flags) {
  const KernelPath kernel_path(directory, path);
  const int result = real::fstatat(directory, kernel_path.get(), status, flags);
  if (result != 0) return result;
  if (path == nullptr || path[0] == '\0') {
    show_descriptor_status(directory, *status);
  } else {
    show_path_status(kernel_path.get(), *status);
  }
  return result;
}

}  // namespace

// Before glibc 2.33 the header defines `stat` and its like as inline functions, and g++ takes the name for
// another file's: so their 64-bit names are functions of their own, and no aliases.
extern "C" {

int entry_stat(const char* path, struct stat* status) URNIC_ENTRY_POINT("stat");
int entry_stat(const char* path, struct stat* status) { return stat_path(path, status); }
int entry_stat64(const char* path, struct stat* status) URNIC_ENTRY_POINT("stat64");
int entry_stat64(const char* path, struct stat* status) { return stat_path(path, status); }

int entry_lstat(const char* path, struct stat* status) URNIC_ENTRY_POINT("lstat");
int entry_lstat(const char* path, struct stat* status) { return stat_link(path, status); }
int entry_lstat64(const char* path, struct stat* status) URNIC_ENTRY_POINT("lstat64");
int entry_lstat64(const char* path, struct stat* status) { return stat_link(path, status); }

int entry_fstat(int descriptor, struct stat* status) URNIC_ENTRY_POINT("fstat");
int entry_fstat(int descriptor, struct stat* status) { return stat_descriptor(descriptor, status); }
int entry_fstat64(int descriptor, struct stat* status) URNIC_ENTRY_POINT("fstat64");
int entry_fstat64(int descriptor, struct stat* status) { return stat_descriptor(descriptor, status); }

int entry_fstatat(int directory, const char* path, struct stat* status, int flags)
    URNIC_ENTRY_POINT("fstatat");
int entry_fstatat(int directory, const char* path, struct stat* status, int flags) {
  return stat_path_at(directory, path, status, flags);
}
int entry_fstatat64(int directory, const char* path, struct stat* status, int flags)
    URNIC_ENTRY_POINT("fstatat64");
int entry_fstatat64(int directory, const char* path, struct stat* status, int flags) {
  return stat_path_at(directory, path, status, flags);
}

int entry_statx(int directory, const char* path, int flags, unsigned mask, struct statx* status)
    URNIC_ENTRY_POINT("statx");
int entry_statx(int directory, const char* path, int flags, unsigned mask, struct statx* status) {
  const KernelPath kernel_path(directory, path);
  const int result = real::statx(directory, kernel_path.get(), flags, mask, status);
  if (result != 0 || !S_ISSOCK(status->stx_mode)) return result;
  dev_t number = 0;
  const bool is_node =
      path == nullptr || path[0] == '\0'
          ? identify_descriptor(directory, number)
          : identify_socket(kernel_path.get(), makedev(status->stx_dev_major, status->stx_dev_minor),
                            status->stx_ino, number);
  if (!is_node) return result;
  status->stx_mode = static_cast<__u16>(kNodeMode);
  status->stx_rdev_major = major(number);
  status->stx_rdev_minor = minor(number);
  return result;
}

// For programs linked before glibc 2.33.
int entry_xstat(int version, const char* path, struct stat* status) URNIC_ENTRY_POINT("__xstat");
int entry_xstat(int version, const char* path, struct stat* status) {
  return known_version(version) ? stat_path(path, status) : -1;
}
int entry_xstat64(int version, const char* path, struct stat* status)
    URNIC_ENTRY_ALIAS("__xstat64", "__xstat");

int entry_lxstat(int version, const char* path, struct stat* status) URNIC_ENTRY_POINT("__lxstat");
int entry_lxstat(int version, const char* path, struct stat* status) {
  return known_version(version) ? stat_link(path, status) : -1;
}
int entry_lxstat64(int version, const char* path, struct stat* status)
    URNIC_ENTRY_ALIAS("__lxstat64", "__lxstat");

int entry_fxstat(int version, int descriptor, struct stat* status) URNIC_ENTRY_POINT("__fxstat");
int entry_fxstat(int version, int descriptor, struct stat* status) {
  return known_version(version) ? stat_descriptor(descriptor, status) : -1;
}
int entry_fxstat64(int version, int descriptor, struct stat* status)
    URNIC_ENTRY_ALIAS("__fxstat64", "__fxstat");

int entry_fxstatat(int version, int directory, const char* path, struct stat* status, int flags)
    URNIC_ENTRY_POINT("__fxstatat");
int entry_fxstatat(int version, int directory, const char* path, struct stat* status, int flags) {
  return known_version(version) ? stat_path_at(directory, path, status, flags) : -1;
}
int entry_fxstatat64(int version, int directory, const char* path, struct stat* status, int flags)
    URNIC_ENTRY_ALIAS("__fxstatat64", "__fxstatat");

}  // extern "C"

}  // namespace urnic::kernel
