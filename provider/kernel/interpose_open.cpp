// open, openat, creat: regular files of the sysfs tree, and device nodes.
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>

#include "provider/kernel/device_node.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/rdma_cm_channel.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"
#include "provider/kernel/unreadable_file.hpp"

namespace urnic::kernel {

namespace {

bool takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

// As in sysfs, programs cannot create a mapped file, and truncating one does nothing.
int flags_for(const KernelPath& path, int flags) {
  return path.is_mapped() && !(flags & O_PATH) ? flags & ~(O_CREAT | O_EXCL | O_TRUNC) : flags;
}

int finish(int descriptor, int directory, const KernelPath& path, int flags) {
  if ((flags & O_PATH) == 0) make_unreadable_if_empty(descriptor, path);
  if (__builtin_expect(descriptor >= 0 || errno != ENXIO, 1)) return descriptor;
  if (!stand_in_active()) return descriptor;
  const int node = open_device_node(directory, path.get(), flags);
  RdmaCmChannel ignored;
  if (node >= 0) identify_rdma_cm(node, ignored);  // remembers the opener
  return node;
}

int open_path(const char* path, int flags, mode_t mode) {
  const KernelPath kernel_path(AT_FDCWD, path);
  const int descriptor = real::open(kernel_path.get(), flags_for(kernel_path, flags), mode);
  return finish(descriptor, AT_FDCWD, kernel_path, flags);
}

int open_path_at(int directory, const char* path, int flags, mode_t mode) {
  const KernelPath kernel_path(directory, path);
  const int descriptor = real::openat(directory, kernel_path.get(), flags_for(kernel_path, flags), mode);
  return finish(descriptor, directory, kernel_path, flags);
}

}  // namespace

extern "C" {

int entry_open(const char* path, int flags, ...) URNIC_ENTRY_POINT("open");
int entry_open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (takes_mode(flags)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return open_path(path, flags, mode);
}
int entry_open64(const char* path, int flags, ...) URNIC_ENTRY_ALIAS("open64", "open");
int entry_libc_open(const char* path, int flags, ...) URNIC_ENTRY_ALIAS("__open", "open");
int entry_libc_open64(const char* path, int flags, ...) URNIC_ENTRY_ALIAS("__open64", "open");

int entry_openat(int directory, const char* path, int flags, ...) URNIC_ENTRY_POINT("openat");
int entry_openat(int directory, const char* path, int flags, ...) {
  mode_t mode = 0;
  if (takes_mode(flags)) {
    va_list arguments;
    va_start(arguments, flags);
    mode = va_arg(arguments, mode_t);
    va_end(arguments);
  }
  return open_path_at(directory, path, flags, mode);
}
int entry_openat2(int directory, const char* path, const struct open_how* how, size_t size)
    URNIC_ENTRY_POINT("openat2");
int entry_openat2(int directory, const char* path, const struct open_how* how, size_t size) {
  // The kernel refuses a size that is too small.
  if (how == nullptr || size < sizeof *how) return real::openat2(directory, path, how, size);
  const KernelPath kernel_path(directory, path);
  const int flags = static_cast<int>(how->flags);
  open_how changed = *how;
  changed.flags = static_cast<unsigned>(flags_for(kernel_path, flags));
  const bool same = changed.flags == how->flags;
  const int descriptor =
      real::openat2(directory, kernel_path.get(), same ? how : &changed, same ? size : sizeof changed);
  return finish(descriptor, directory, kernel_path, flags);
}

int entry_openat64(int directory, const char* path, int flags, ...) URNIC_ENTRY_ALIAS("openat64", "openat");

// The fortified forms take no mode. glibc's functions end a program whose flags need one.
int entry_open_2(const char* path, int flags) URNIC_ENTRY_POINT("__open_2");
int entry_open_2(const char* path, int flags) {
  return takes_mode(flags) ? real::open_2(path, flags) : open_path(path, flags, 0);
}
int entry_open64_2(const char* path, int flags) URNIC_ENTRY_ALIAS("__open64_2", "__open_2");

int entry_openat_2(int directory, const char* path, int flags) URNIC_ENTRY_POINT("__openat_2");
int entry_openat_2(int directory, const char* path, int flags) {
  return takes_mode(flags) ? real::openat_2(directory, path, flags) : open_path_at(directory, path, flags, 0);
}
int entry_openat64_2(int directory, const char* path, int flags)
    URNIC_ENTRY_ALIAS("__openat64_2", "__openat_2");

int entry_creat(const char* path, mode_t mode) URNIC_ENTRY_POINT("creat");
int entry_creat(const char* path, mode_t mode) { return open_path(path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int entry_creat64(const char* path, mode_t mode) URNIC_ENTRY_ALIAS("creat64", "creat");

}  // extern "C"

}  // namespace urnic::kernel
