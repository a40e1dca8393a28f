#include "provider/kernel/real.hpp"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

#include "provider/old_symbol_versions.hpp"

namespace urnic::kernel::real {

namespace {

template <typename Function>
class NextSymbol {
 public:
  constexpr explicit NextSymbol(const char* name) : name_(name) {}

  // The next definition if look_up has found one; else null.
  Function* known() const { return function_.load(std::memory_order_relaxed); }

  // The next definition; null if there is none.
  Function* look_up() {
    if (Function* function = known()) return function;
    auto* function = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

 private:
  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

constinit NextSymbol<int(const char*, int, ...)> next_open{"open"};
constinit NextSymbol<int(int, const char*, int, ...)> next_openat{"openat"};
constinit NextSymbol<ssize_t(int, void*, size_t)> next_read{"read"};
constinit NextSymbol<ssize_t(int, const void*, size_t)> next_write{"write"};
constinit NextSymbol<int(int, unsigned long, ...)> next_ioctl{"ioctl"};
constinit NextSymbol<void*(void*, size_t, int, int, int, off_t)> next_mmap{"mmap"};
constinit NextSymbol<int(int, int, int)> next_socket{"socket"};
constinit NextSymbol<int(int, const struct sockaddr*, socklen_t)> next_connect{"connect"};
constinit NextSymbol<int(int, const sockaddr*, socklen_t)> next_bind{"bind"};
constinit NextSymbol<int(int, sockaddr*, socklen_t*)> next_getsockname{"getsockname"};
constinit NextSymbol<int(int, sockaddr*, socklen_t*)> next_getpeername{"getpeername"};
constinit NextSymbol<int(int, int, int, const void*, socklen_t)> next_setsockopt{"setsockopt"};
constinit NextSymbol<ssize_t(int, void*, size_t, int, sockaddr*, socklen_t*)> next_recvfrom{"recvfrom"};
constinit NextSymbol<ssize_t(int, msghdr*, int)> next_recvmsg{"recvmsg"};
constinit NextSymbol<int(int, mmsghdr*, unsigned, int, timespec*)> next_recvmmsg{"recvmmsg"};
constinit NextSymbol<int(const char*, struct stat*)> next_stat{"stat"};
constinit NextSymbol<int(const char*, struct stat*)> next_lstat{"lstat"};
constinit NextSymbol<int(int, struct stat*)> next_fstat{"fstat"};
constinit NextSymbol<int(int, const char*, struct stat*, int)> next_fstatat{"fstatat"};
constinit NextSymbol<int(int, const char*, int, unsigned, struct statx*)> next_statx{"statx"};
constinit NextSymbol<int(const char*, int)> next_access{"access"};
constinit NextSymbol<int(int, const char*, int, int)> next_faccessat{"faccessat"};
constinit NextSymbol<ssize_t(const char*, char*, size_t)> next_readlink{"readlink"};
constinit NextSymbol<ssize_t(int, const char*, char*, size_t)> next_readlinkat{"readlinkat"};
constinit NextSymbol<int(const char*)> next_chdir{"chdir"};
constinit NextSymbol<int(const char*, char* const*, char* const*)> next_execve{"execve"};
constinit NextSymbol<int(const char*, char* const*, char* const*)> next_execvpe{"execvpe"};
constinit NextSymbol<int(int, char* const*, char* const*)> next_fexecve{"fexecve"};
constinit NextSymbol<int(int, const char*, char* const*, char* const*, int)> next_execveat{"execveat"};

__attribute__((constructor)) void look_up_async_signal_safe_functions() {
  next_open.look_up();
  next_openat.look_up();
  next_read.look_up();
  next_write.look_up();
  next_ioctl.look_up();
  next_mmap.look_up();
  next_socket.look_up();
  next_connect.look_up();
  next_bind.look_up();
  next_getsockname.look_up();
  next_getpeername.look_up();
  next_setsockopt.look_up();
  next_recvfrom.look_up();
  next_recvmsg.look_up();
  next_recvmmsg.look_up();
  next_stat.look_up();
  next_lstat.look_up();
  next_fstat.look_up();
  next_fstatat.look_up();
  next_statx.look_up();
  next_access.look_up();
  next_faccessat.look_up();
  next_readlink.look_up();
  next_readlinkat.look_up();
  next_chdir.look_up();
  next_execve.look_up();
  next_execvpe.look_up();
  next_fexecve.look_up();
  next_execveat.look_up();
}

// For a function that the program's C library does not have.
template <typename Result>
Result missing(Result failure) {
  errno = ENOSYS;
  return failure;
}

}  // namespace

int open(const char* path, int flags, mode_t mode) {
  if (auto* next = next_open.known()) return next(path, flags, mode);
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

int openat(int directory, const char* path, int flags, mode_t mode) {
  if (auto* next = next_openat.known()) return next(directory, path, flags, mode);
  return static_cast<int>(syscall(SYS_openat, directory, path, flags, mode));
}

ssize_t read(int descriptor, void* data, size_t size) {
  if (auto* next = next_read.known()) return next(descriptor, data, size);
  return syscall(SYS_read, descriptor, data, size);
}

ssize_t write(int descriptor, const void* data, size_t size) {
  if (auto* next = next_write.known()) return next(descriptor, data, size);
  return syscall(SYS_write, descriptor, data, size);
}

int ioctl(int descriptor, unsigned long request, void* argument) {
  if (auto* next = next_ioctl.known()) return next(descriptor, request, argument);
  return static_cast<int>(syscall(SYS_ioctl, descriptor, request, argument));
}

void* mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  if (auto* next = next_mmap.known()) return next(address, length, protection, flags, descriptor, offset);
  const long mapped = syscall(SYS_mmap, address, length, protection, flags, descriptor, offset);
  return reinterpret_cast<void*>(mapped);
}

int socket(int domain, int type, int protocol) {
  if (auto* next = next_socket.known()) return next(domain, type, protocol);
  return static_cast<int>(syscall(SYS_socket, domain, type, protocol));
}

int connect(int descriptor, const struct sockaddr* address, socklen_t length) {
  if (auto* next = next_connect.known()) return next(descriptor, address, length);
  return static_cast<int>(syscall(SYS_connect, descriptor, address, length));
}

int bind(int descriptor, const sockaddr* address, socklen_t length) {
  if (auto* next = next_bind.known()) return next(descriptor, address, length);
  return static_cast<int>(syscall(SYS_bind, descriptor, address, length));
}

int getsockname(int descriptor, sockaddr* address, socklen_t* length) {
  if (auto* next = next_getsockname.known()) return next(descriptor, address, length);
  return static_cast<int>(syscall(SYS_getsockname, descriptor, address, length));
}

int getpeername(int descriptor, sockaddr* address, socklen_t* length) {
  if (auto* next = next_getpeername.known()) return next(descriptor, address, length);
  return static_cast<int>(syscall(SYS_getpeername, descriptor, address, length));
}

int setsockopt(int descriptor, int level, int option, const void* value, socklen_t length) {
  if (auto* next = next_setsockopt.known()) return next(descriptor, level, option, value, length);
  return static_cast<int>(syscall(SYS_setsockopt, descriptor, level, option, value, length));
}

ssize_t recvfrom(int descriptor, void* data, size_t size, int flags, sockaddr* sender, socklen_t* length) {
  if (auto* next = next_recvfrom.known()) return next(descriptor, data, size, flags, sender, length);
  return syscall(SYS_recvfrom, descriptor, data, size, flags, sender, length);
}

ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  if (auto* next = next_recvmsg.known()) return next(descriptor, message, flags);
  return syscall(SYS_recvmsg, descriptor, message, flags);
}

int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* timeout) {
  if (auto* next = next_recvmmsg.known()) return next(descriptor, messages, count, flags, timeout);
  return static_cast<int>(syscall(SYS_recvmmsg, descriptor, messages, count, flags, timeout));
}

int stat(const char* path, struct stat* status) {
  if (auto* next = next_stat.known()) return next(path, status);
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, status, 0));
}

int lstat(const char* path, struct stat* status) {
  if (auto* next = next_lstat.known()) return next(path, status);
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW));
}

int fstat(int descriptor, struct stat* status) {
  if (auto* next = next_fstat.known()) return next(descriptor, status);
  return static_cast<int>(syscall(SYS_fstat, descriptor, status));
}

int fstatat(int directory, const char* path, struct stat* status, int flags) {
  if (auto* next = next_fstatat.known()) return next(directory, path, status, flags);
  return static_cast<int>(syscall(SYS_newfstatat, directory, path, status, flags));
}

int statx(int directory, const char* path, int flags, unsigned mask, struct statx* status) {
  if (auto* next = next_statx.known()) return next(directory, path, flags, mask, status);
  return static_cast<int>(syscall(SYS_statx, directory, path, flags, mask, status));
}

int access(const char* path, int mode) {
  if (auto* next = next_access.known()) return next(path, mode);
  return static_cast<int>(syscall(SYS_faccessat, AT_FDCWD, path, mode));
}

int faccessat(int directory, const char* path, int mode, int flags) {
  if (auto* next = next_faccessat.known()) return next(directory, path, mode, flags);
  return static_cast<int>(syscall(__NR_faccessat2, directory, path, mode, flags));
}

ssize_t readlink(const char* path, char* target, size_t size) {
  if (auto* next = next_readlink.known()) return next(path, target, size);
  return syscall(SYS_readlinkat, AT_FDCWD, path, target, size);
}

ssize_t readlinkat(int directory, const char* path, char* target, size_t size) {
  if (auto* next = next_readlinkat.known()) return next(directory, path, target, size);
  return syscall(SYS_readlinkat, directory, path, target, size);
}

int chdir(const char* path) {
  if (auto* next = next_chdir.known()) return next(path);
  return static_cast<int>(syscall(SYS_chdir, path));
}

int execve(const char* path, char* const* arguments, char* const* environment) {
  if (auto* next = next_execve.known()) return next(path, arguments, environment);
  return static_cast<int>(syscall(SYS_execve, path, arguments, environment));
}

int execvpe(const char* file, char* const* arguments, char* const* environment) {
  if (auto* next = next_execvpe.known()) return next(file, arguments, environment);
  return missing(-1);
}

int fexecve(int descriptor, char* const* arguments, char* const* environment) {
  if (auto* next = next_fexecve.known()) return next(descriptor, arguments, environment);
  return static_cast<int>(syscall(SYS_execveat, descriptor, "", arguments, environment, AT_EMPTY_PATH));
}

int execveat(int directory, const char* path, char* const* arguments, char* const* environment, int flags) {
  if (auto* next = next_execveat.known()) return next(directory, path, arguments, environment, flags);
  return static_cast<int>(syscall(SYS_execveat, directory, path, arguments, environment, flags));
}

int open_2(const char* path, int flags) {
  static constinit NextSymbol<int(const char*, int)> symbol{"__open_2"};
  if (auto* next = symbol.look_up()) return next(path, flags);
  return missing(-1);
}

int openat_2(int directory, const char* path, int flags) {
  static constinit NextSymbol<int(int, const char*, int)> symbol{"__openat_2"};
  if (auto* next = symbol.look_up()) return next(directory, path, flags);
  return missing(-1);
}

int openat2(int directory, const char* path, const struct open_how* how, size_t size) {
  static constinit NextSymbol<int(int, const char*, const struct open_how*, size_t)> symbol{"openat2"};
  if (auto* next = symbol.look_up()) return next(directory, path, how, size);
  return static_cast<int>(syscall(__NR_openat2, directory, path, how, size));
}

int euidaccess(const char* path, int mode) {
  static constinit NextSymbol<int(const char*, int)> symbol{"euidaccess"};
  if (auto* next = symbol.look_up()) return next(path, mode);
  return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

ssize_t getxattr(const char* path, const char* name, void* value, size_t size) {
  static constinit NextSymbol<ssize_t(const char*, const char*, void*, size_t)> symbol{"getxattr"};
  if (auto* next = symbol.look_up()) return next(path, name, value, size);
  return syscall(SYS_getxattr, path, name, value, size);
}

ssize_t lgetxattr(const char* path, const char* name, void* value, size_t size) {
  static constinit NextSymbol<ssize_t(const char*, const char*, void*, size_t)> symbol{"lgetxattr"};
  if (auto* next = symbol.look_up()) return next(path, name, value, size);
  return syscall(SYS_lgetxattr, path, name, value, size);
}

ssize_t listxattr(const char* path, char* list, size_t size) {
  static constinit NextSymbol<ssize_t(const char*, char*, size_t)> symbol{"listxattr"};
  if (auto* next = symbol.look_up()) return next(path, list, size);
  return syscall(SYS_listxattr, path, list, size);
}

ssize_t llistxattr(const char* path, char* list, size_t size) {
  static constinit NextSymbol<ssize_t(const char*, char*, size_t)> symbol{"llistxattr"};
  if (auto* next = symbol.look_up()) return next(path, list, size);
  return syscall(SYS_llistxattr, path, list, size);
}

int inotify_add_watch(int descriptor, const char* path, uint32_t mask) {
  static constinit NextSymbol<int(int, const char*, uint32_t)> symbol{"inotify_add_watch"};
  if (auto* next = symbol.look_up()) return next(descriptor, path, mask);
  return static_cast<int>(syscall(SYS_inotify_add_watch, descriptor, path, mask));
}

FILE* fopen(const char* path, const char* mode) {
  static constinit NextSymbol<FILE*(const char*, const char*)> symbol{"fopen"};
  if (auto* next = symbol.look_up()) return next(path, mode);
  return missing<FILE*>(nullptr);
}

FILE* freopen(const char* path, const char* mode, FILE* stream) {
  static constinit NextSymbol<FILE*(const char*, const char*, FILE*)> symbol{"freopen"};
  if (auto* next = symbol.look_up()) return next(path, mode, stream);
  return missing<FILE*>(nullptr);
}

DIR* opendir(const char* path) {
  static constinit NextSymbol<DIR*(const char*)> symbol{"opendir"};
  if (auto* next = symbol.look_up()) return next(path);
  return missing<DIR*>(nullptr);
}

struct dirent* readdir(DIR* directory) {
  static constinit NextSymbol<struct dirent*(DIR*)> symbol{"readdir"};
  if (auto* next = symbol.look_up()) return next(directory);
  return missing<struct dirent*>(nullptr);
}

int scandir(const char* path, struct dirent*** names, DirectoryFilter filter, DirectoryOrder order) {
  static constinit NextSymbol<int(const char*, struct dirent***, DirectoryFilter, DirectoryOrder)> symbol{
      "scandir"};
  if (auto* next = symbol.look_up()) return next(path, names, filter, order);
  return missing(-1);
}

int scandirat(int directory, const char* path, struct dirent*** names, DirectoryFilter filter,
              DirectoryOrder order) {
  static constinit NextSymbol<int(int, const char*, struct dirent***, DirectoryFilter, DirectoryOrder)>
      symbol{"scandirat"};
  if (auto* next = symbol.look_up()) return next(directory, path, names, filter, order);
  return missing(-1);
}

char* realpath(const char* path, char* resolved) {
  static constinit NextSymbol<char*(const char*, char*)> symbol{"realpath"};
  if (auto* next = symbol.look_up()) return next(path, resolved);
  return missing<char*>(nullptr);
}

char* getcwd(char* buffer, size_t size) {
  static constinit NextSymbol<char*(char*, size_t)> symbol{"getcwd"};
  if (auto* next = symbol.look_up()) return next(buffer, size);
  return missing<char*>(nullptr);
}

int glob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* matches) {
  static constinit NextSymbol<int(const char*, int, int (*)(const char*, int), glob_t*)> symbol{"glob"};
  if (auto* next = symbol.look_up()) return next(pattern, flags, on_error, matches);
  return missing(GLOB_ABORTED);
}

int nftw(const char* path, WalkVisitor visitor, int descriptors, int flags) {
  static constinit NextSymbol<int(const char*, WalkVisitor, int, int)> symbol{"nftw"};
  if (auto* next = symbol.look_up()) return next(path, visitor, descriptors, flags);
  return missing(-1);
}

int ftw(const char* path, SimpleWalkVisitor visitor, int descriptors) {
  static constinit NextSymbol<int(const char*, SimpleWalkVisitor, int)> symbol{"ftw"};
  if (auto* next = symbol.look_up()) return next(path, visitor, descriptors);
  return missing(-1);
}

FTS* fts_open(char* const* paths, int options, TreeOrder order) {
  static constinit NextSymbol<FTS*(char* const*, int, TreeOrder)> symbol{"fts_open"};
  if (auto* next = symbol.look_up()) return next(paths, options, order);
  return missing<FTS*>(nullptr);
}

}  // namespace urnic::kernel::real
