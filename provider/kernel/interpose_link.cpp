// readlink, realpath, canonicalize_file_name, getcwd: they answer with paths under /sys and /dev, not with
// the paths in the run directory.
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "provider/kept_errno.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"

namespace urnic::kernel {

namespace {

// find_program_path for a path in which all symbolic links are resolved: the run directory's path is resolved
// first.
bool find_resolved_program_path(const char* actual, PathText& path) {
  if (strstr(actual, "/sysfs") == nullptr && strstr(actual, "/dev") == nullptr) return false;
  const KeptErrno kept;
  char run[PATH_MAX];
  return stand_in_active() && real::realpath(run_directory(), run) != nullptr &&
         find_program_path(run, actual, path);
}

// readlinkat for a mapped link. Reads the whole target, because only a whole path can be mapped back, and
// then cuts it to `size` bytes.
ssize_t read_mapped_link(int directory, const char* link, char* target, size_t size) {
  char actual[kPathCapacity];
  const ssize_t length = real::readlinkat(directory, link, actual, sizeof actual - 1);
  if (length < 0) return length;
  actual[length] = '\0';
  PathText shown;
  const char* source = actual;
  size_t shown_length = static_cast<size_t>(length);
  if (actual[0] == '/' && find_program_path(run_directory(), actual, shown)) {
    source = shown.text();
    shown_length = shown.length();
  }
  if (shown_length > size) shown_length = size;
  memcpy(target, source, shown_length);
  return static_cast<ssize_t>(shown_length);
}

ssize_t read_link(const char* path, char* target, size_t size) {
  const KernelPath kernel_path(AT_FDCWD, path);
  if (!kernel_path.is_mapped() || size == 0) return real::readlink(kernel_path.get(), target, size);
  return read_mapped_link(AT_FDCWD, kernel_path.get(), target, size);
}

ssize_t read_link_at(int directory, const char* path, char* target, size_t size) {
  const KernelPath kernel_path(directory, path);
  if (!kernel_path.is_mapped() || size == 0)
    return real::readlinkat(directory, kernel_path.get(), target, size);
  return read_mapped_link(directory, kernel_path.get(), target, size);
}

// `resolved` is the program's buffer of PATH_MAX bytes or null, as in realpath.
char* resolve(const char* path, char* resolved) {
  const KernelPath kernel_path(AT_FDCWD, path);
  char* actual = real::realpath(kernel_path.get(), resolved);
  if (actual == nullptr || (!kernel_path.is_mapped() && path[0] == '/')) return actual;
  PathText shown;
  if (!find_resolved_program_path(actual, shown)) return actual;
  if (resolved == nullptr) {
    free(actual);
    return strdup(shown.text());
  }
  memcpy(resolved, shown.text(), shown.length() + 1);
  return resolved;
}

// As getcwd: a null `buffer` means one from malloc of `size` bytes, or of as many as needed if `size` is 0.
char* find_working_directory(char* buffer, size_t size) {
  char* actual = real::getcwd(buffer, size);
  PathText shown;
  if (actual == nullptr || !find_resolved_program_path(actual, shown)) return actual;
  if (buffer == nullptr) free(actual);
  if (size != 0 && shown.length() >= size) {
    errno = ERANGE;
    return nullptr;
  }
  if (buffer == nullptr && size == 0) return strdup(shown.text());
  char* result = buffer != nullptr ? buffer : static_cast<char*>(malloc(size));
  if (result != nullptr) memcpy(result, shown.text(), shown.length() + 1);
  return result;
}

}  // namespace

// Ends the program, as glibc does if a fortified call names a size larger than its buffer.
[[noreturn]] void end_for_overflow() __asm__("__chk_fail");

extern "C" {

ssize_t entry_readlink(const char* path, char* target, size_t size) URNIC_ENTRY_POINT("readlink");
ssize_t entry_readlink(const char* path, char* target, size_t size) { return read_link(path, target, size); }

ssize_t entry_readlinkat(int directory, const char* path, char* target, size_t size)
    URNIC_ENTRY_POINT("readlinkat");
ssize_t entry_readlinkat(int directory, const char* path, char* target, size_t size) {
  return read_link_at(directory, path, target, size);
}

ssize_t entry_readlink_chk(const char* path, char* target, size_t size, size_t room)
    URNIC_ENTRY_POINT("__readlink_chk");
ssize_t entry_readlink_chk(const char* path, char* target, size_t size, size_t room) {
  if (size > room) end_for_overflow();
  return read_link(path, target, size);
}

ssize_t entry_readlinkat_chk(int directory, const char* path, char* target, size_t size, size_t room)
    URNIC_ENTRY_POINT("__readlinkat_chk");
ssize_t entry_readlinkat_chk(int directory, const char* path, char* target, size_t size, size_t room) {
  if (size > room) end_for_overflow();
  return read_link_at(directory, path, target, size);
}

char* entry_realpath(const char* path, char* resolved) URNIC_ENTRY_POINT("realpath");
char* entry_realpath(const char* path, char* resolved) { return resolve(path, resolved); }

char* entry_realpath_chk(const char* path, char* resolved, size_t room) URNIC_ENTRY_POINT("__realpath_chk");
char* entry_realpath_chk(const char* path, char* resolved, size_t room) {
  if (room < PATH_MAX) end_for_overflow();
  return resolve(path, resolved);
}

char* entry_canonicalize_file_name(const char* path) URNIC_ENTRY_POINT("canonicalize_file_name");
char* entry_canonicalize_file_name(const char* path) { return resolve(path, nullptr); }

char* entry_getcwd(char* buffer, size_t size) URNIC_ENTRY_POINT("getcwd");
char* entry_getcwd(char* buffer, size_t size) { return find_working_directory(buffer, size); }

char* entry_getcwd_chk(char* buffer, size_t size, size_t room) URNIC_ENTRY_POINT("__getcwd_chk");
char* entry_getcwd_chk(char* buffer, size_t size, size_t room) {
  if (size > room) end_for_overflow();
  return find_working_directory(buffer, size);
}

}  // extern "C"

}  // namespace urnic::kernel
