// What the kernel itself knows of a descriptor that somebody else made. None of these functions waits for
// anybody: not for a FUSE daemon, as fstat and fstatfs of a FUSE file do, and not for a lock that another
// owner of the same open file holds.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

namespace urnic::memory {

// Where the link /proc/self/fd/N leads: a path, or what stands for one, such as "pipe:[1234]". Only the
// kernel makes names without a slash at the beginning. Empty for a descriptor that is closed.
std::string target_of(int descriptor);

// The pipe behind `descriptor` was made by pipe(2), not by opening a FIFO in some file system.
bool is_unnamed_pipe(int descriptor);
// A socket of the AF_UNIX family. Others may hold a lock while their owner's memory does not answer.
bool is_unix_socket(int descriptor);

// The first word of the line `key` in /proc/self/fdinfo/N; empty if there is no such line.
std::string fdinfo_word(int descriptor, std::string_view key);

struct FileNumber {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileNumber&, const FileNumber&) = default;
};
// Device and inode number as the kernel has them at hand (statx(2), AT_STATX_DONT_SYNC).
std::optional<FileNumber> file_number(int descriptor);

// Whether `descriptor` was opened in a file system of type proc. Where its mount is another one than /proc
// here, it is looked up among the mounts of this process and of `owner` (0: of this process only). False for
// a mount that neither has.
bool is_on_proc(int descriptor, pid_t owner);

}  // namespace urnic::memory
