// opendir, readdir, scandir. glibc's opendir and scandir do not call the interposed open.
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "provider/kept_errno.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/shown_devices.hpp"
#include "provider/kernel/shown_status.hpp"

namespace urnic::kernel {

namespace {

static_assert(sizeof(dirent) == sizeof(dirent64), "one function serves both names");

// Corrects d_type: `find -type c` and other programs trust it and do not call stat.
void show_entry(DIR* directory, dirent& entry) {
  if (!is_node_name(entry.d_name)) return;
  const KeptErrno kept;
  struct stat status;
  if (real::fstatat(dirfd(directory), entry.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  show_path_status(entry.d_name, status);
  if (S_ISCHR(status.st_mode)) entry.d_type = DT_CHR;
}

// Takes the entries of devices that are left out from the result of scandir.
int without_hidden(const struct stat& directory, struct dirent** names, int count) {
  int kept = 0;
  for (int i = 0; i < count; ++i) {
    if (is_hidden_entry(directory, names[i]->d_name))
      free(names[i]);
    else
      names[kept++] = names[i];
  }
  return kept;
}

int scan(int directory, const char* path, struct dirent*** names, real::DirectoryFilter filter,
         real::DirectoryOrder order) {
  const int count = directory == AT_FDCWD ? real::scandir(path, names, filter, order)
                                          : real::scandirat(directory, path, names, filter, order);
  struct stat status;
  if (count <= 0 || !some_devices_are_hidden() || real::fstatat(directory, path, &status, 0) != 0)
    return count;
  return without_hidden(status, *names, count);
}

}  // namespace

extern "C" {

DIR* entry_opendir(const char* path) URNIC_ENTRY_POINT("opendir");
DIR* entry_opendir(const char* path) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::opendir(kernel_path.get());
}

struct dirent* entry_readdir(DIR* directory) URNIC_ENTRY_POINT("readdir");
struct dirent* entry_readdir(DIR* directory) {
  struct dirent* entry = read_shown_entry(directory);
  if (entry != nullptr && __builtin_expect(entry->d_type == DT_SOCK, 0)) show_entry(directory, *entry);
  return entry;
}
struct dirent* entry_readdir64(DIR* directory) URNIC_ENTRY_ALIAS("readdir64", "readdir");

int entry_scandir(const char* path, struct dirent*** names, real::DirectoryFilter filter,
                  real::DirectoryOrder order) URNIC_ENTRY_POINT("scandir");
int entry_scandir(const char* path, struct dirent*** names, real::DirectoryFilter filter,
                  real::DirectoryOrder order) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return scan(AT_FDCWD, kernel_path.get(), names, filter, order);
}
int entry_scandir64(const char* path, struct dirent*** names, real::DirectoryFilter filter,
                    real::DirectoryOrder order) URNIC_ENTRY_ALIAS("scandir64", "scandir");

int entry_scandirat(int directory, const char* path, struct dirent*** names, real::DirectoryFilter filter,
                    real::DirectoryOrder order) URNIC_ENTRY_POINT("scandirat");
int entry_scandirat(int directory, const char* path, struct dirent*** names, real::DirectoryFilter filter,
                    real::DirectoryOrder order) {
  const KernelPath kernel_path(directory, path);
  return scan(directory, kernel_path.get(), names, filter, order);
}
int entry_scandirat64(int directory, const char* path, struct dirent*** names, real::DirectoryFilter filter,
                      real::DirectoryOrder order) URNIC_ENTRY_ALIAS("scandirat64", "scandirat");

}  // extern "C"

}  // namespace urnic::kernel
