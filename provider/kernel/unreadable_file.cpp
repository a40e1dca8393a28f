#include "provider/kernel/unreadable_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "provider/kept_errno.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

constexpr char kGidAttributes[] = "/gid_attrs/";

// A shell that has gone to a folder of the tree opens its files by relative paths. Their names are numbers.
bool may_be_relative(const char* path) {
  if (path == nullptr || path[0] == '/' || path[0] == '\0') return false;
  const char last = path[strlen(path) - 1];
  return last >= '0' && last <= '9';
}

bool leads_to_gid_attribute(int descriptor) {
  char link[32];
  char name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const ssize_t size = real::readlink(link, name, sizeof name - 1);
  if (size <= 0) return false;
  name[size] = '\0';
  return strstr(name, "/sysfs/") != nullptr && strstr(name, "/infiniband/") != nullptr &&
         strstr(name, kGidAttributes) != nullptr;
}

}  // namespace

// The kernel answers EINVAL for a descriptor that has no read, such as epoll's.
void make_unreadable_if_empty(int descriptor, const KernelPath& path) {
  if (descriptor < 0 || (!path.is_mapped() && !may_be_relative(path.get()))) return;
  const KeptErrno kept;
  struct stat status;
  if (real::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size != 0) return;
  const bool is_gid_attribute =
      path.is_mapped() ? strstr(path.get(), kGidAttributes) != nullptr : leads_to_gid_attribute(descriptor);
  if (!is_gid_attribute) return;
  const int unreadable = epoll_create1(EPOLL_CLOEXEC);
  if (unreadable < 0) return;  // then it reads as empty
  const int flags = fcntl(descriptor, F_GETFD);
  dup3(unreadable, descriptor, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
  close(unreadable);
}

}  // namespace urnic::kernel
