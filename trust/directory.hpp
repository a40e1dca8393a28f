// Whether a run directory can be trusted. Any user can make a directory in /tmp first, put sockets of his own
// into it, and wait for programs to hand him their memory.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace urnic::trust {

// Why a run directory is not trusted.
enum class DirectoryFault {
  none,
  missing,     // there is nothing of that name
  unreadable,  // errno tells why
  not_a_directory,
  another_users,
  others_may_write,
  parent_not_a_directory,
  parent_is_another_users,
  others_may_replace,
};

// The fault in words, to follow the directory's name. Static storage.
inline const char* describe(DirectoryFault fault) {
  switch (fault) {
    case DirectoryFault::none:
      return "is trusted";
    case DirectoryFault::missing:
      return "does not exist";
    case DirectoryFault::unreadable:
      return "cannot be looked at";
    case DirectoryFault::not_a_directory:
      return "is a symbolic link or no directory";
    case DirectoryFault::another_users:
      return "belongs to another user";
    case DirectoryFault::others_may_write:
      return "can be written by other users";
    case DirectoryFault::parent_not_a_directory:
      return "lies in what is a symbolic link or no directory";
    case DirectoryFault::parent_is_another_users:
      return "lies in another user's directory";
    case DirectoryFault::others_may_replace:
      return "lies in a directory where other users may replace it";
  }
  return "";
}

// lstat(2) by a direct system call, since the kernel stand-in replaces the C library's. Sets errno on
// failure.
inline bool look_at_itself(const char* path, struct stat& status) {
  return syscall(SYS_newfstatat, AT_FDCWD, path, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

// The fault for the errno of `look_at_itself`.
inline DirectoryFault look_fault() {
  return errno == ENOENT || errno == ENOTDIR ? DirectoryFault::missing : DirectoryFault::unreadable;
}

// Checks a directory that run directories lie in. It must be this user's or root's. If others may write to
// it, its sticky bit must keep them from renaming what is not theirs.
inline DirectoryFault check_parent(const char* path) {
  struct stat status {};
  if (!look_at_itself(path, status)) return look_fault();
  if (!S_ISDIR(status.st_mode)) return DirectoryFault::parent_not_a_directory;
  if (status.st_uid != geteuid() && status.st_uid != 0) return DirectoryFault::parent_is_another_users;
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (others_write && (status.st_mode & S_ISVTX) == 0) return DirectoryFault::others_may_replace;
  return DirectoryFault::none;
}

// `check_parent` of the directory that `path` lies in.
inline DirectoryFault check_parent_of(const char* path) {
  char parent[256];  // longer than any run directory's, short enough for a signal's stack
  const char* const slash = std::strrchr(path, '/');
  const std::size_t length = slash == nullptr ? 0 : static_cast<std::size_t>(slash - path);
  if (slash == nullptr || length >= sizeof parent) return DirectoryFault::parent_not_a_directory;
  std::memcpy(parent, path, length);
  std::strcpy(parent + length, length == 0 ? "/" : "");
  return check_parent(parent);
}

// Checks that the run directory `path` (absolute, without a slash at its end) is this user's, that nobody
// else may write to it, and that nobody else can put another one in its place. Neither it nor its parent may
// be a symbolic link. A socket in it is checked again when it is connected, by `peer_is_own_user`.
inline DirectoryFault check_run_directory(const char* path) {
  struct stat status {};
  if (!look_at_itself(path, status)) return look_fault();
  if (!S_ISDIR(status.st_mode)) return DirectoryFault::not_a_directory;
  if (status.st_uid != geteuid()) return DirectoryFault::another_users;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return DirectoryFault::others_may_write;
  return check_parent_of(path);
}

}  // namespace urnic::trust
