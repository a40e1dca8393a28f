// Functions of the C library whose names the kernel stand-in takes over. There (URNIC_DIRECT_CALLS) they are
// system calls: by name it would call itself, or an interposer that calls it. Elsewhere they are the C
// library's, or a sanitizer's, which has to know of mappings.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace urnic::provider {

// As open(2), without a mode.
inline int open_file(const char* path, int flags) {
#ifdef URNIC_DIRECT_CALLS
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags));
#else
  return ::open(path, flags);
#endif
}

inline ssize_t read_file(int file, void* data, size_t size) {
#ifdef URNIC_DIRECT_CALLS
  return syscall(SYS_read, file, data, size);
#else
  return ::read(file, data, size);
#endif
}

inline void* map_memory(void* address, size_t length, int protection, int flags, int file, off_t offset) {
#ifdef URNIC_DIRECT_CALLS
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, length, protection, flags, file, offset));
#else
  return ::mmap(address, length, protection, flags, file, offset);
#endif
}

// As mremap(2), always by a system call: UCX replaces the function of that name by one which loses its last
// argument.
inline void* move_memory(void* from, size_t length, size_t new_length, int flags, void* to) {
  return reinterpret_cast<void*>(syscall(SYS_mremap, from, length, new_length, flags, to));
}

inline int control_file(int file, unsigned long request, void* argument) {
#ifdef URNIC_DIRECT_CALLS
  return static_cast<int>(syscall(SYS_ioctl, file, request, argument));
#else
  return ::ioctl(file, request, argument);
#endif
}

}  // namespace urnic::provider
