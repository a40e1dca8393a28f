/* All forms of stat and access, on a device node. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "probe_case.h"

int __xstat(int, const char*, struct stat*);
int __lxstat(int, const char*, struct stat*);
int __fxstat(int, int, struct stat*);
int __fxstatat(int, int, const char*, struct stat*, int);
int __xstat64(int, const char*, struct stat64*);
int __lxstat64(int, const char*, struct stat64*);
int __fxstat64(int, int, struct stat64*);
int __fxstatat64(int, int, const char*, struct stat64*, int);

#define EXPECT_NODE(status) EXPECT((status).st_mode == (S_IFCHR | 0666) && (status).st_rdev == NODE_NUMBER)
#define EXPECT_NODEX(status)                                                        \
  EXPECT((status).stx_mode == (S_IFCHR | 0666) && (status).stx_rdev_major == 231 && \
         (status).stx_rdev_minor == 192)

static const char* try_stat(void) {
  struct stat status;
  EXPECT(stat(NODE, &status) == 0);
  EXPECT_NODE(status);
  EXPECT(stat("/dev/char/231:192", &status) == 0);
  EXPECT_NODE(status);
  EXPECT(stat("/dev/char/231:999", &status) == -1 && errno == ENOENT);
  EXPECT(stat("/dev/infiniband/uverbs7", &status) == -1 && errno == ENOENT);
  EXPECT(stat("/dev/infiniband/rdma_cm", &status) == -1 && errno == ENOENT);
  EXPECT(stat("/dev/infiniband", &status) == 0 && S_ISDIR(status.st_mode));
  EXPECT(stat(GUID_FILE, &status) == 0 && S_ISREG(status.st_mode));
  return NULL;
}
static const char* try_stat64(void) {
  struct stat64 status;
  EXPECT(stat64(NODE, &status) == 0);
  EXPECT_NODE(status);
  return NULL;
}
static const char* try_lstat(void) {
  struct stat status;
  struct stat64 status64;
  EXPECT(lstat(NODE, &status) == 0);
  EXPECT_NODE(status);
  EXPECT(lstat64(NODE, &status64) == 0);
  EXPECT_NODE(status64);
  return NULL;
}
static const char* try_fstatat(void) {
  struct stat status;
  struct stat64 status64;
  EXPECT(fstatat(AT_FDCWD, NODE, &status, 0) == 0);
  EXPECT_NODE(status);
  EXPECT(fstatat64(AT_FDCWD, NODE, &status64, AT_SYMLINK_NOFOLLOW) == 0);
  EXPECT_NODE(status64);
  int folder = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
  EXPECT(folder >= 0 && fstatat(folder, "uverbs0", &status, 0) == 0);
  close(folder);
  EXPECT_NODE(status);
  return NULL;
}
static const char* try_relative(void) {
  struct stat status;
  EXPECT(chdir("/dev/infiniband") == 0 && stat("uverbs0", &status) == 0);
  EXPECT_NODE(status);
  EXPECT(chdir("/dev") == 0 && stat("infiniband/uverbs0", &status) == 0);
  EXPECT_NODE(status);
  return NULL;
}
static const char* try_statx(void) {
  struct statx status;
  EXPECT(statx(AT_FDCWD, NODE, 0, STATX_BASIC_STATS, &status) == 0);
  EXPECT_NODEX(status);
  EXPECT(statx(AT_FDCWD, NODE, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &status) == 0);
  EXPECT_NODEX(status);
  return NULL;
}
static const char* try_old_stat(void) {
  struct stat status;
  struct stat64 status64;
  EXPECT(__xstat(1, NODE, &status) == 0);
  EXPECT_NODE(status);
  EXPECT(__lxstat(1, NODE, &status) == 0);
  EXPECT_NODE(status);
  EXPECT(__fxstatat(1, AT_FDCWD, NODE, &status, 0) == 0);
  EXPECT_NODE(status);
  EXPECT(__xstat64(1, NODE, &status64) == 0);
  EXPECT_NODE(status64);
  EXPECT(__lxstat64(1, NODE, &status64) == 0);
  EXPECT_NODE(status64);
  EXPECT(__fxstatat64(1, AT_FDCWD, NODE, &status64, 0) == 0);
  EXPECT_NODE(status64);
  EXPECT(__xstat(7, NODE, &status) == -1 && errno == EINVAL);
  return NULL;
}

static const char* try_descriptor(void) {
  struct stat status;
  struct stat64 status64;
  struct statx statusx;
  int device = open(NODE, O_RDWR | O_CLOEXEC);
  EXPECT(device >= 0);
  EXPECT(fstat(device, &status) == 0);
  EXPECT_NODE(status);
  EXPECT(fstat64(device, &status64) == 0);
  EXPECT_NODE(status64);
  EXPECT(__fxstat(1, device, &status) == 0);
  EXPECT_NODE(status);
  EXPECT(__fxstat64(1, device, &status64) == 0);
  EXPECT_NODE(status64);
  EXPECT(fstatat(device, "", &status, AT_EMPTY_PATH) == 0);
  EXPECT_NODE(status);
  EXPECT(statx(device, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &statusx) == 0);
  EXPECT_NODEX(statusx);
  int copy = dup(device);
  close(device);
  EXPECT(fstat(copy, &status) == 0);
  EXPECT_NODE(status);
  close(copy);
  return NULL;
}

static const char* try_access(void) {
  EXPECT(access(NODE, R_OK | W_OK) == 0);
  EXPECT(access(NODE, X_OK) == -1 && errno == EACCES);
  EXPECT(access("/dev/infiniband/uverbs7", F_OK) == -1 && errno == ENOENT);
  EXPECT(eaccess(NODE, R_OK | W_OK) == 0);
  EXPECT(eaccess(NODE, X_OK) == -1 && errno == EACCES);
  EXPECT(euidaccess(GUID_FILE, R_OK) == 0);
  EXPECT(faccessat(AT_FDCWD, NODE, R_OK | W_OK, AT_EACCESS) == 0);
  EXPECT(faccessat(AT_FDCWD, NODE, X_OK, 0) == -1 && errno == EACCES);
  EXPECT(access("/sys/class/infiniband", X_OK) == 0);
  return NULL;
}

const struct probe_case status_cases[] = {
    {"stat", try_stat},
    {"stat64", try_stat64},
    {"lstat and lstat64", try_lstat},
    {"fstatat and fstatat64", try_fstatat},
    {"stat of a relative path", try_relative},
    {"statx", try_statx},
    {"__xstat and its relatives", try_old_stat},
    {"fstat and its relatives", try_descriptor},
    {"access and its relatives", try_access},
    {0, 0},
};
