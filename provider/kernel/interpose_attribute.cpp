// Reading extended attributes: `ls -l` reads them and complains about a path that does not exist.
#include <fcntl.h>
#include <stddef.h>
#include <sys/types.h>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

extern "C" {

ssize_t entry_getxattr(const char* path, const char* name, void* value, size_t size)
    URNIC_ENTRY_POINT("getxattr");
ssize_t entry_getxattr(const char* path, const char* name, void* value, size_t size) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::getxattr(kernel_path.get(), name, value, size);
}

ssize_t entry_lgetxattr(const char* path, const char* name, void* value, size_t size)
    URNIC_ENTRY_POINT("lgetxattr");
ssize_t entry_lgetxattr(const char* path, const char* name, void* value, size_t size) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::lgetxattr(kernel_path.get(), name, value, size);
}

ssize_t entry_listxattr(const char* path, char* list, size_t size) URNIC_ENTRY_POINT("listxattr");
ssize_t entry_listxattr(const char* path, char* list, size_t size) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::listxattr(kernel_path.get(), list, size);
}

ssize_t entry_llistxattr(const char* path, char* list, size_t size) URNIC_ENTRY_POINT("llistxattr");
ssize_t entry_llistxattr(const char* path, char* list, size_t size) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::llistxattr(kernel_path.get(), list, size);
}

}  // extern "C"

}  // namespace urnic::kernel
