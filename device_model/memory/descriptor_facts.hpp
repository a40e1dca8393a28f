// What the kernel knows of a descriptor that another process made. None of these functions blocks: not on a
// FUSE daemon, as fstat and fstatfs of a FUSE file do, and not on a lock that another owner of the same open
// file holds.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace urnic::memory {

// The target of the link /proc/self/fd/N: a path, or a kernel's name such as "pipe:[1234]". Only kernel's
// names begin without a slash. Empty for a closed descriptor.
std::string target_of(int descriptor);

// True for a pipe that was made by pipe(2), not by opening a FIFO in some file system.
bool is_unnamed_pipe(int descriptor);
// True for a socket of the AF_UNIX family. Sockets of other families may hold a lock as long as their owner's
// memory does not answer.
bool is_unix_socket(int descriptor);

// The first word of the line `key` in /proc/self/fdinfo/N; empty if there is no such line.
std::string fdinfo_word(int descriptor, std::string_view key);

struct FileNumber {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileNumber&, const FileNumber&) = default;
};
// Device and inode number as the kernel has them at hand (statx(2), AT_STATX_DONT_SYNC); empty on failure.
std::optional<FileNumber> file_number(int descriptor);

// True if `descriptor` was opened in a file system of type proc. A mount other than /proc here is looked up
// among the mounts of this process and of `owner` (0: of this process only); false for a mount that neither
// has.
bool is_on_proc(int descriptor, pid_t owner);

// True for a regular file whose position is below 0. The kernel lets nobody position a regular file there but
// those of proc whose offsets are addresses, such as /proc/PID/mem (mem_lseek() in fs/proc/base.c):
// vfs_setpos() in fs/read_write.c, by which other file systems do it, refuses. Asks no file system, and takes
// no lock.
bool is_positioned_below_zero(int descriptor);

}  // namespace urnic::memory
