/* Opening, reading and naming files of the sysfs tree. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe_case.h"

int __open_2(const char*, int);
int __open64_2(const char*, int);
int __openat_2(int, const char*, int);
int __openat64_2(int, const char*, int);
int libc_open(const char*, int, ...) __asm__("__open");
int libc_open64(const char*, int, ...) __asm__("__open64");
ssize_t __readlink_chk(const char*, char*, size_t, size_t);
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t);
char* __realpath_chk(const char*, char*, size_t);
char* __getcwd_chk(char*, size_t, size_t);

#define LINK "/sys/class/infiniband/urnic1"
#define LINK_TARGET "../../devices/virtual/infiniband/urnic1"
#define LINKED_PLACE "/sys/devices/virtual/infiniband/urnic1"

/* Reads from the descriptor and closes it. */
static const char* holds_guid(int file) {
  char text[64] = {0};
  EXPECT(file >= 0);
  EXPECT(read(file, text, sizeof text - 1) > 0);
  close(file);
  EXPECT(strcmp(text, GUID_TEXT) == 0);
  return NULL;
}

static const char* try_open(void) { return holds_guid(open(GUID_FILE, O_RDONLY)); }
static const char* try_open64(void) { return holds_guid(open64(GUID_FILE, O_RDONLY)); }
static const char* try_libc_open(void) { return holds_guid(libc_open(GUID_FILE, O_RDONLY)); }
static const char* try_libc_open64(void) { return holds_guid(libc_open64(GUID_FILE, O_RDONLY)); }
static const char* try_openat(void) { return holds_guid(openat(AT_FDCWD, GUID_FILE, O_RDONLY)); }
static const char* try_openat64(void) { return holds_guid(openat64(-1, GUID_FILE, O_RDONLY)); }
/* glibc has openat2 from 2.43 on; the stand-in has it on every glibc. */
static const char* try_openat2(void) {
  typedef int Openat2(int, const char*, const struct open_how*, size_t);
  Openat2* openat2 = (Openat2*)dlsym(RTLD_DEFAULT, "openat2");
  EXPECT(openat2 != NULL);
  struct open_how how = {.flags = O_RDONLY};
  EXPECT(openat2(AT_FDCWD, GUID_FILE, &how, 1) == -1 && errno == EINVAL);
  EXPECT(openat2(AT_FDCWD, "/sys/class/infiniband/none", &how, sizeof how) == -1 && errno == ENOENT);
  return holds_guid(openat2(AT_FDCWD, GUID_FILE, &how, sizeof how));
}
static const char* try_open_2(void) { return holds_guid(__open_2(GUID_FILE, O_RDONLY)); }
static const char* try_open64_2(void) { return holds_guid(__open64_2(GUID_FILE, O_RDONLY)); }
static const char* try_openat_2(void) { return holds_guid(__openat_2(AT_FDCWD, GUID_FILE, O_RDONLY)); }
static const char* try_openat64_2(void) { return holds_guid(__openat64_2(AT_FDCWD, GUID_FILE, O_RDONLY)); }
static const char* try_odd_spelling(void) {
  return holds_guid(open("//sys/./class/net/..//infiniband/urnic0/node_guid", O_RDONLY));
}

static const char* try_openat_in_mapped_folder(void) {
  int folder = open("/sys/class/infiniband", O_RDONLY | O_DIRECTORY);
  EXPECT(folder >= 0);
  const char* problem = holds_guid(openat(folder, "urnic0/node_guid", O_RDONLY));
  close(folder);
  return problem;
}
static const char* try_openat_in_parent(void) {
  int folder = open("/sys/class", O_RDONLY | O_DIRECTORY);
  EXPECT(folder >= 0);
  const char* problem = holds_guid(openat(folder, "infiniband/urnic0/node_guid", O_RDONLY));
  close(folder);
  return problem;
}
/* hwloc opens files in this way. */
static const char* try_openat_in_root(void) {
  int folder = open("/", O_RDONLY | O_DIRECTORY);
  EXPECT(folder >= 0);
  const char* problem = holds_guid(openat(folder, "sys/class/infiniband/urnic0/node_guid", O_RDONLY));
  close(folder);
  return problem;
}
static const char* try_relative_from_elsewhere(void) {
  EXPECT(chdir("/dev") == 0);
  return holds_guid(open("../sys/class/infiniband/urnic0/node_guid", O_RDONLY));
}
static const char* try_relative_to_parent(void) {
  EXPECT(chdir("/sys/class") == 0);
  return holds_guid(open("./infiniband/urnic0/node_guid", O_RDONLY));
}
static const char* try_relative_to_mapped_folder(void) {
  EXPECT(chdir("/sys/class/infiniband") == 0);
  return holds_guid(open("urnic0/node_guid", O_RDONLY));
}
static const char* try_through_link(void) {
  int file = open(LINK "/node_type", O_RDONLY);
  EXPECT(file >= 0);
  close(file);
  file = open(LINKED_PLACE "/node_type", O_RDONLY);
  EXPECT(file >= 0);
  close(file);
  return NULL;
}
static const char* try_climbing_out(void) {
  EXPECT(access("/sys/class/infiniband/../../class/net", F_OK) == 0);
  EXPECT(access("/dev/infiniband/../null", F_OK) == 0);
  return NULL;
}

static const char* try_creat(void) {
  int file = creat(GUID_FILE, 0600);
  EXPECT(file >= 0);
  close(file);
  EXPECT(creat64("/sys/class/infiniband/new", 0600) == -1 && errno == ENOENT);
  return try_open(); /* nothing was truncated */
}

static const char* holds_guid_stream(FILE* stream) {
  char text[64] = {0};
  EXPECT(stream != NULL);
  EXPECT(fgets(text, sizeof text, stream) != NULL);
  fclose(stream);
  EXPECT(strcmp(text, GUID_TEXT) == 0);
  return NULL;
}
static const char* try_fopen(void) { return holds_guid_stream(fopen(GUID_FILE, "r")); }
static const char* try_fopen64(void) { return holds_guid_stream(fopen64(GUID_FILE, "re")); }
static const char* try_freopen(void) {
  return holds_guid_stream(freopen(GUID_FILE, "r", fopen("/dev/null", "r")));
}
static const char* try_freopen64(void) {
  return holds_guid_stream(freopen64(GUID_FILE, "r", fopen("/dev/null", "r")));
}
static const char* try_fopen_for_writing(void) {
  FILE* stream = fopen(GUID_FILE, "w");
  EXPECT(stream != NULL);
  fclose(stream);
  EXPECT(fopen("/sys/class/infiniband/new", "w") == NULL && errno == ENOENT);
  return try_fopen();
}

static const char* try_readlink(void) {
  char target[PATH_MAX] = {0};
  EXPECT(readlink(LINK, target, sizeof target) > 0 && strcmp(target, LINK_TARGET) == 0);
  memset(target, 0, sizeof target);
  EXPECT(readlinkat(AT_FDCWD, LINK, target, sizeof target) > 0 && strcmp(target, LINK_TARGET) == 0);
  return NULL;
}
static const char* try_readlink_chk(void) {
  char target[PATH_MAX] = {0};
  EXPECT(__readlink_chk(LINK, target, sizeof target, sizeof target) > 0 && strcmp(target, LINK_TARGET) == 0);
  memset(target, 0, sizeof target);
  EXPECT(__readlinkat_chk(AT_FDCWD, LINK, target, sizeof target, sizeof target) > 0);
  EXPECT(strcmp(target, LINK_TARGET) == 0);
  return NULL;
}
static const char* try_readlink_absolute(void) {
  char target[PATH_MAX] = {0};
  const char* link = "/sys/class/infiniband_verbs/uverbs0/absolute_link";
  EXPECT(readlink(link, target, sizeof target) > 0);
  EXPECT(strcmp(target, "/sys/class/infiniband/urnic0") == 0);
  memset(target, 0, sizeof target);
  EXPECT(readlink(link, target, 10) == 10 && strcmp(target, "/sys/class") == 0);
  return NULL;
}

static const char* try_realpath(void) {
  char resolved[PATH_MAX];
  EXPECT(realpath("/sys/class/infiniband/urnic0/", resolved) == resolved);
  EXPECT(strcmp(resolved, "/sys/class/infiniband/urnic0") == 0);
  EXPECT(realpath(LINK, resolved) == resolved && strcmp(resolved, LINKED_PLACE) == 0);
  EXPECT(realpath("/dev/infiniband/uverbs0", resolved) == resolved && strcmp(resolved, NODE) == 0);
  EXPECT(realpath("/sys/class/infiniband/none", resolved) == NULL && errno == ENOENT);
  return NULL;
}
static const char* same_and_free(char* resolved, const char* expected) {
  EXPECT(resolved != NULL && strcmp(resolved, expected) == 0);
  free(resolved);
  return NULL;
}
static const char* try_realpath_allocating(void) { return same_and_free(realpath(LINK, NULL), LINKED_PLACE); }
static const char* try_realpath_relative(void) {
  EXPECT(chdir("/sys/class/infiniband") == 0);
  return same_and_free(realpath("urnic0", NULL), "/sys/class/infiniband/urnic0");
}
static const char* try_realpath_chk(void) {
  char resolved[PATH_MAX];
  EXPECT(__realpath_chk(LINK, resolved, sizeof resolved) == resolved && strcmp(resolved, LINKED_PLACE) == 0);
  return NULL;
}
static const char* try_canonicalize(void) {
  return same_and_free(canonicalize_file_name(LINK), LINKED_PLACE);
}
static const char* try_getcwd(void) {
  char place[PATH_MAX];
  EXPECT(chdir("/sys/class/infiniband/urnic0") == 0);
  EXPECT(getcwd(place, sizeof place) == place && strcmp(place, "/sys/class/infiniband/urnic0") == 0);
  EXPECT(__getcwd_chk(place, sizeof place, sizeof place) == place);
  EXPECT(strcmp(place, "/sys/class/infiniband/urnic0") == 0);
  EXPECT(getcwd(place, 10) == NULL && errno == ERANGE);
  EXPECT(chdir("/dev/infiniband") == 0);
  return same_and_free(getcwd(NULL, 0), "/dev/infiniband");
}

static const char* try_attributes(void) {
  char value[64];
  EXPECT(getxattr(GUID_FILE, "user.none", value, sizeof value) == -1 && errno != ENOENT);
  EXPECT(lgetxattr(GUID_FILE, "user.none", value, sizeof value) == -1 && errno != ENOENT);
  EXPECT(listxattr(GUID_FILE, NULL, 0) >= 0 || errno != ENOENT);
  EXPECT(llistxattr(GUID_FILE, NULL, 0) >= 0 || errno != ENOENT);
  return NULL;
}

const struct probe_case file_cases[] = {
    {"open", try_open},
    {"open64", try_open64},
    {"__open", try_libc_open},
    {"__open64", try_libc_open64},
    {"openat", try_openat},
    {"openat64", try_openat64},
    {"openat2", try_openat2},
    {"__open_2", try_open_2},
    {"__open64_2", try_open64_2},
    {"__openat_2", try_openat_2},
    {"__openat64_2", try_openat64_2},
    {"open with an odd spelling", try_odd_spelling},
    {"openat in a mapped folder", try_openat_in_mapped_folder},
    {"openat in a mapped folder's parent", try_openat_in_parent},
    {"openat in the root", try_openat_in_root},
    {"open by way of the root", try_relative_from_elsewhere},
    {"open relative to a mapped folder's parent", try_relative_to_parent},
    {"open relative to a mapped folder", try_relative_to_mapped_folder},
    {"open through a link", try_through_link},
    {"climbing out of the tree", try_climbing_out},
    {"creat", try_creat},
    {"fopen", try_fopen},
    {"fopen64", try_fopen64},
    {"freopen", try_freopen},
    {"freopen64", try_freopen64},
    {"fopen for writing", try_fopen_for_writing},
    {"readlink", try_readlink},
    {"__readlink_chk", try_readlink_chk},
    {"readlink of an absolute link", try_readlink_absolute},
    {"realpath", try_realpath},
    {"realpath that allocates", try_realpath_allocating},
    {"realpath of a relative path", try_realpath_relative},
    {"__realpath_chk", try_realpath_chk},
    {"canonicalize_file_name", try_canonicalize},
    {"getcwd", try_getcwd},
    {"extended attributes", try_attributes},
    {0, 0},
};
