// glob, ftw, nftw, fts_open. glibc's functions do not call the interposed opendir and stat.
#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/path_map.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/run_directory_lookup.hpp"
#include "provider/kernel/shown_devices.hpp"
#include "provider/kernel/shown_status.hpp"

namespace urnic::kernel {

namespace {

// A walk of a mapped tree. It is kept in a thread's variable, because ftw and nftw pass their visitors no
// argument of the caller.
struct Walk {
  const char* program_root;
  size_t program_length;  // without trailing slashes
  size_t kernel_length;
  real::WalkVisitor visitor;
  real::SimpleWalkVisitor simple_visitor;
  Walk* outer;
};
__attribute__((tls_model("initial-exec"))) thread_local constinit Walk* current_walk = nullptr;

size_t length_without_slashes(const char* path) {
  size_t length = strlen(path);
  while (length > 1 && path[length - 1] == '/') --length;
  return length;
}

class WalkScope {
 public:
  WalkScope(const char* root, const char* kernel_root, real::WalkVisitor visitor,
            real::SimpleWalkVisitor simple_visitor)
      : walk_{root,
              length_without_slashes(root),
              length_without_slashes(kernel_root),
              visitor,
              simple_visitor,
              current_walk} {
    current_walk = &walk_;
  }
  ~WalkScope() { current_walk = walk_.outer; }
  WalkScope(const WalkScope&) = delete;
  WalkScope& operator=(const WalkScope&) = delete;

 private:
  Walk walk_;
};

void show_walked_path(const Walk& walk, const char* actual, PathText& shown) {
  shown.append(walk.program_root, walk.program_length).append(actual + walk.kernel_length);
}

// Calls the visitor with the outer walk as the current one, so that a walk that the visitor starts is
// separate from `walk`.
template <typename Visit>
int visit_in_outer_walk(Walk* walk, Visit visit) {
  current_walk = walk->outer;
  const int result = visit();
  current_walk = walk;
  return result;
}

int visit_entry(const char* actual, const struct stat* status, int type, struct FTW* place) {
  Walk* walk = current_walk;
  PathText path;
  show_walked_path(*walk, actual, path);
  struct stat shown = *status;
  if (type != FTW_NS) show_path_status(actual, shown);
  struct FTW shown_place = *place;
  const char* slash = strrchr(path.text(), '/');
  shown_place.base = slash == nullptr ? 0 : static_cast<int>(slash + 1 - path.text());
  return visit_in_outer_walk(walk, [&] { return walk->visitor(path.text(), &shown, type, &shown_place); });
}

int visit_entry_simply(const char* actual, const struct stat* status, int type) {
  Walk* walk = current_walk;
  PathText path;
  show_walked_path(*walk, actual, path);
  struct stat shown = *status;
  if (type != FTW_NS) show_path_status(actual, shown);
  return visit_in_outer_walk(walk, [&] { return walk->simple_visitor(path.text(), &shown, type); });
}

void* glob_opendir(const char* path) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::opendir(kernel_path.get());
}
struct dirent* glob_readdir(void* directory) {
  return read_shown_entry(static_cast<DIR*>(directory));
}
void glob_closedir(void* directory) { closedir(static_cast<DIR*>(directory)); }
int glob_stat(const char* path, struct stat* status) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::stat(kernel_path.get(), status);
}
int glob_lstat(const char* path, struct stat* status) {
  const KernelPath kernel_path(AT_FDCWD, path);
  return real::lstat(kernel_path.get(), status);
}

bool may_match_mapped_path(const char* pattern) {
  return strstr(pattern, "infiniband") != nullptr || strstr(pattern, "rdma_cm") != nullptr ||
         strstr(pattern, "/pci") != nullptr || strstr(pattern, "/mlx5") != nullptr ||
         strstr(pattern, "/class/net/") != nullptr;
}

// A copy of `paths` with each mapped path replaced, in one allocation that the caller frees; null if there is
// no memory.
char** copy_mapped_paths(char* const* paths, size_t count) {
  const size_t vector_size = (count + 1) * sizeof(char*);
  auto* copy = static_cast<char**>(malloc(vector_size + count * kPathCapacity));
  if (copy == nullptr) return nullptr;
  char* room = reinterpret_cast<char*>(copy) + vector_size;
  for (size_t i = 0; i < count; ++i, room += kPathCapacity) {
    const KernelPath kernel_path(AT_FDCWD, paths[i]);
    copy[i] = kernel_path.is_mapped() ? strcpy(room, kernel_path.get()) : paths[i];
  }
  copy[count] = nullptr;
  return copy;
}

}  // namespace

extern "C" {

int entry_glob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* matches)
    URNIC_ENTRY_POINT("glob");
int entry_glob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* matches) {
  if (pattern == nullptr || (flags & GLOB_ALTDIRFUNC) != 0 || !may_match_mapped_path(pattern) ||
      !stand_in_active())
    return real::glob(pattern, flags, on_error, matches);
  matches->gl_opendir = glob_opendir;
  matches->gl_readdir = glob_readdir;
  matches->gl_closedir = glob_closedir;
  matches->gl_stat = glob_stat;
  matches->gl_lstat = glob_lstat;
  const int result = real::glob(pattern, flags | GLOB_ALTDIRFUNC, on_error, matches);
  matches->gl_flags &= ~GLOB_ALTDIRFUNC;
  return result;
}
int entry_glob64(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* matches)
    URNIC_ENTRY_ALIAS("glob64", "glob");

int entry_nftw(const char* path, real::WalkVisitor visitor, int descriptors, int flags)
    URNIC_ENTRY_POINT("nftw");
int entry_nftw(const char* path, real::WalkVisitor visitor, int descriptors, int flags) {
  const KernelPath kernel_path(AT_FDCWD, path);
  if (!kernel_path.is_mapped()) return real::nftw(path, visitor, descriptors, flags);
  const WalkScope scope(path, kernel_path.get(), visitor, nullptr);
  return real::nftw(kernel_path.get(), visit_entry, descriptors, flags);
}
int entry_nftw64(const char* path, real::WalkVisitor visitor, int descriptors, int flags)
    URNIC_ENTRY_ALIAS("nftw64", "nftw");

int entry_ftw(const char* path, real::SimpleWalkVisitor visitor, int descriptors) URNIC_ENTRY_POINT("ftw");
int entry_ftw(const char* path, real::SimpleWalkVisitor visitor, int descriptors) {
  const KernelPath kernel_path(AT_FDCWD, path);
  if (!kernel_path.is_mapped()) return real::ftw(path, visitor, descriptors);
  const WalkScope scope(path, kernel_path.get(), nullptr, visitor);
  return real::ftw(kernel_path.get(), visit_entry_simply, descriptors);
}
int entry_ftw64(const char* path, real::SimpleWalkVisitor visitor, int descriptors)
    URNIC_ENTRY_ALIAS("ftw64", "ftw");

// The entries that the walk reports hold paths in the run directory. They lead to the same files.
FTS* entry_fts_open(char* const* paths, int options, real::TreeOrder order) URNIC_ENTRY_POINT("fts_open");
FTS* entry_fts_open(char* const* paths, int options, real::TreeOrder order) {
  bool any = false;
  size_t count = 0;
  for (; paths != nullptr && paths[count] != nullptr; ++count)
    any = any || KernelPath(AT_FDCWD, paths[count]).is_mapped();
  char** mapped = any ? copy_mapped_paths(paths, count) : nullptr;
  FTS* tree = real::fts_open(mapped != nullptr ? mapped : paths, options, order);
  free(mapped);
  return tree;
}
FTS* entry_fts64_open(char* const* paths, int options, real::TreeOrder order)
    URNIC_ENTRY_ALIAS("fts64_open", "fts_open");

}  // extern "C"

}  // namespace urnic::kernel
