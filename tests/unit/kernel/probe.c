/* Tries every entry point that the stand-in takes over. Prints a line per case: "ok NAME" or "no NAME: WHY".
   With the argument "unchanged": runs the cases that the stand-in must not change. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "probe_case.h"

static int run_cases(const struct probe_case* cases) {
  int failures = 0;
  for (; cases->name != NULL; ++cases) {
    errno = 0;
    const char* problem = cases->run();
    if (problem == NULL) {
      printf("ok %s\n", cases->name);
    } else {
      printf("no %s: not so: %s (errno: %s)\n", cases->name, problem, strerror(errno));
      ++failures;
    }
    fflush(stdout);
    if (chdir("/") != 0) return 1;
  }
  return failures;
}

/* For a program that inherits an open device node as descriptor 9: 0 if it sees a device. */
static int look_at_inherited(void) {
  struct stat status;
  return fstat(9, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == NODE_NUMBER ? 0 : 1;
}

int main(int count, char** arguments) {
  if (count > 1 && strcmp(arguments[1], "inherited") == 0) return look_at_inherited();
  if (count > 1 && strcmp(arguments[1], "unchanged") == 0) return run_cases(unchanged_cases) != 0;
  int failures = run_cases(file_cases);
  failures += run_cases(status_cases);
  failures += run_cases(directory_cases);
  failures += run_cases(device_cases);
  failures += run_cases(netlink_cases);
  return failures != 0;
}
