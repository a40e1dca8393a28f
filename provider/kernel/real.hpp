// The functions that the entry points call: the next definition in the dynamic linker's order. It is the C
// library's or another interposer's (for example a sanitizer's). Arguments, results and errno are the C
// library's.
//
// Functions that POSIX calls async-signal-safe are looked up when the library is loaded, because dlsym takes
// a lock that a forked child may find held for ever. An earlier call (from another library's constructor), or
// one without a next definition, is a plain system call.
#pragma once

#include <dirent.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace urnic::kernel::real {

int open(const char* path, int flags, mode_t mode);
int openat(int directory, const char* path, int flags, mode_t mode);
ssize_t read(int descriptor, void* data, size_t size);
ssize_t write(int descriptor, const void* data, size_t size);
int ioctl(int descriptor, unsigned long request, void* argument);
void* mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset);
int socket(int domain, int type, int protocol);
int connect(int descriptor, const struct sockaddr* address, socklen_t length);
int bind(int descriptor, const struct sockaddr* address, socklen_t length);
int getsockname(int descriptor, struct sockaddr* address, socklen_t* length);
int getpeername(int descriptor, struct sockaddr* address, socklen_t* length);
int setsockopt(int descriptor, int level, int option, const void* value, socklen_t length);
ssize_t recvfrom(int descriptor, void* data, size_t size, int flags, struct sockaddr* sender,
                 socklen_t* length);
ssize_t recvmsg(int descriptor, struct msghdr* message, int flags);
int recvmmsg(int descriptor, struct mmsghdr* messages, unsigned count, int flags, struct timespec* timeout);
int stat(const char* path, struct stat* status);
int lstat(const char* path, struct stat* status);
int fstat(int descriptor, struct stat* status);
int fstatat(int directory, const char* path, struct stat* status, int flags);
int statx(int directory, const char* path, int flags, unsigned mask, struct statx* status);
int access(const char* path, int mode);
int faccessat(int directory, const char* path, int mode, int flags);
ssize_t readlink(const char* path, char* target, size_t size);
ssize_t readlinkat(int directory, const char* path, char* target, size_t size);
int chdir(const char* path);
int execve(const char* path, char* const* arguments, char* const* environment);
int execvpe(const char* file, char* const* arguments, char* const* environment);
int fexecve(int descriptor, char* const* arguments, char* const* environment);
int execveat(int directory, const char* path, char* const* arguments, char* const* environment, int flags);

// Looked up at the first call. Without a next definition: a plain system call, or ENOSYS.
int open_2(const char* path, int flags);                   // __open_2
int openat_2(int directory, const char* path, int flags);  // __openat_2
int openat2(int directory, const char* path, const struct open_how* how, size_t size);
int euidaccess(const char* path, int mode);
ssize_t getxattr(const char* path, const char* name, void* value, size_t size);
ssize_t lgetxattr(const char* path, const char* name, void* value, size_t size);
ssize_t listxattr(const char* path, char* list, size_t size);
ssize_t llistxattr(const char* path, char* list, size_t size);
int inotify_add_watch(int descriptor, const char* path, uint32_t mask);
FILE* fopen(const char* path, const char* mode);
FILE* freopen(const char* path, const char* mode, FILE* stream);
DIR* opendir(const char* path);
struct dirent* readdir(DIR* directory);
using DirectoryFilter = int (*)(const struct dirent*);
using DirectoryOrder = int (*)(const struct dirent**, const struct dirent**);
int scandir(const char* path, struct dirent*** names, DirectoryFilter filter, DirectoryOrder order);
int scandirat(int directory, const char* path, struct dirent*** names, DirectoryFilter filter,
              DirectoryOrder order);
char* realpath(const char* path, char* resolved);
char* getcwd(char* buffer, size_t size);
int glob(const char* pattern, int flags, int (*on_error)(const char*, int), glob_t* matches);
using WalkVisitor = int (*)(const char*, const struct stat*, int, struct FTW*);
int nftw(const char* path, WalkVisitor visitor, int descriptors, int flags);
using SimpleWalkVisitor = int (*)(const char*, const struct stat*, int);
int ftw(const char* path, SimpleWalkVisitor visitor, int descriptors);
using TreeOrder = int (*)(const FTSENT**, const FTSENT**);
FTS* fts_open(char* const* paths, int options, TreeOrder order);

}  // namespace urnic::kernel::real
