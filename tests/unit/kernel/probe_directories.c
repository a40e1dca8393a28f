/* Listing and walking mapped directories. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe_case.h"

static const char* try_opendir(void) {
  int nodes = 0;
  DIR* folder = opendir("/dev/infiniband");
  EXPECT(folder != NULL);
  for (struct dirent* entry; (entry = readdir(folder)) != NULL;)
    nodes += strncmp(entry->d_name, "uverbs", 6) == 0 && entry->d_type == DT_CHR;
  rewinddir(folder);
  for (struct dirent64* entry; (entry = readdir64(folder)) != NULL;)
    nodes += strncmp(entry->d_name, "uverbs", 6) == 0 && entry->d_type == DT_CHR;
  closedir(folder);
  EXPECT(nodes == 4);
  return NULL;
}

static int is_device(const struct dirent* entry) { return strncmp(entry->d_name, "urnic", 5) == 0; }
static int is_device64(const struct dirent64* entry) { return strncmp(entry->d_name, "urnic", 5) == 0; }
static const char* try_scandir(void) {
  struct dirent** names;
  struct dirent64** names64;
  EXPECT(scandir("/sys/class/infiniband", &names, is_device, alphasort) == 2);
  EXPECT(strcmp(names[0]->d_name, "urnic0") == 0 && strcmp(names[1]->d_name, "urnic1") == 0);
  free(names[0]), free(names[1]), free(names);
  EXPECT(scandir64("/sys/class/infiniband", &names64, is_device64, alphasort64) == 2);
  free(names64[0]), free(names64[1]), free(names64);
  EXPECT(scandirat(AT_FDCWD, "/sys/class/infiniband", &names, is_device, alphasort) == 2);
  free(names[0]), free(names[1]), free(names);
  EXPECT(scandirat64(AT_FDCWD, "/sys/class/infiniband", &names64, is_device64, alphasort64) == 2);
  free(names64[0]), free(names64[1]), free(names64);
  return NULL;
}

static const char* try_glob(void) {
  glob_t matches = {0};
  glob64_t matches64 = {0};
  EXPECT(glob("/sys/class/infiniband/*/ports/*/state", 0, NULL, &matches) == 0);
  EXPECT(matches.gl_pathc == 2);
  EXPECT(strcmp(matches.gl_pathv[1], "/sys/class/infiniband/urnic1/ports/1/state") == 0);
  globfree(&matches);
  EXPECT(glob64("/dev/infiniband/uverbs?", GLOB_MARK, NULL, &matches64) == 0);
  EXPECT(matches64.gl_pathc == 2 && strcmp(matches64.gl_pathv[0], NODE) == 0);
  globfree64(&matches64);
  EXPECT(glob("/sys/class/infiniband/none*", 0, NULL, &matches) == GLOB_NOMATCH);
  return NULL;
}

static int devices_walked;
static int wrong_walks;
static int visit(const char* path, const struct stat* status, int type, struct FTW* place) {
  const char* name = path + place->base;
  if (strncmp(path, "/dev/infiniband", 15) != 0) ++wrong_walks;
  if (place->level == 0 && strcmp(name, "infiniband") != 0) ++wrong_walks;
  if (strcmp(name, "uverbs0") == 0) devices_walked += S_ISCHR(status->st_mode) && type == FTW_F;
  return 0;
}
static int visit64(const char* path, const struct stat64* status, int type, struct FTW* place) {
  return visit(path, (const struct stat*)status, type, place);
}
static int visit_simply(const char* path, const struct stat* status, int type) {
  struct FTW place = {(int)(strrchr(path, '/') + 1 - path), 1};
  return visit(path, status, type, &place);
}
/* A visitor that starts a walk itself. */
static int visit_again(const char* path, const struct stat* status, int type, struct FTW* place) {
  visit(path, status, type, place);
  return place->level == 0 ? nftw("/dev/infiniband", visit, 8, FTW_PHYS) : 0;
}
static const char* try_nftw(void) {
  devices_walked = wrong_walks = 0;
  EXPECT(nftw("/dev/infiniband", visit, 8, FTW_PHYS) == 0);
  EXPECT(nftw64("/dev/infiniband/", visit64, 8, FTW_PHYS) == 0);
  EXPECT(ftw("/dev/infiniband", visit_simply, 8) == 0);
  EXPECT(devices_walked == 3 && wrong_walks == 0);
  EXPECT(nftw("/dev/infiniband", visit_again, 8, FTW_PHYS) == 0);
  EXPECT(devices_walked == 5 && wrong_walks == 0);
  return NULL;
}

static const char* try_fts(void) {
  char first[] = "/sys/class/infiniband/urnic0";
  char second[] = "/sys/class/net";
  char* paths[] = {first, second, NULL};
  int guids = 0;
  FTS* tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
  EXPECT(tree != NULL);
  for (FTSENT* entry; (entry = fts_read(tree)) != NULL;)
    guids += entry->fts_info == FTS_F && strcmp(entry->fts_name, "node_guid") == 0 &&
             access(entry->fts_path, R_OK) == 0;
  fts_close(tree);
  EXPECT(guids == 1);
  return NULL;
}

static const char* try_watch(void) {
  int watcher = inotify_init1(IN_CLOEXEC);
  EXPECT(watcher >= 0);
  EXPECT(inotify_add_watch(watcher, "/sys/class/infiniband", IN_CREATE) >= 0);
  EXPECT(inotify_add_watch(watcher, "/dev/char/", IN_CREATE) == -1 && errno == ENOENT);
  close(watcher);
  return NULL;
}

const struct probe_case directory_cases[] = {
    {"opendir and readdir", try_opendir},
    {"scandir", try_scandir},
    {"glob", try_glob},
    {"nftw and ftw", try_nftw},
    {"fts_open", try_fts},
    {"inotify_add_watch", try_watch},
    {0, 0},
};
