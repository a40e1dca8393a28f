/* The cost of interposed calls to a program without RDMA: prints mean times on one line. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(void) {
  enum { kWrites = 1000000, kOpens = 100000, kPrograms = 300 };
  struct stat status;
  int null = open("/dev/null", O_WRONLY);
  int failures = null < 0;

  double start = now();
  for (int i = 0; i < kWrites; ++i) failures += write(null, "x", 1) != 1;
  double write_time = (now() - start) / kWrites;

  int zero = open("/dev/zero", O_RDONLY);
  char read_byte;
  start = now();
  for (int i = 0; i < kWrites; ++i) failures += read(zero, &read_byte, 1) != 1;
  double read_time = (now() - start) / kWrites;

  start = now();
  for (int i = 0; i < kOpens; ++i) failures += close(open("/dev/null", O_RDONLY)) != 0;
  double open_time = (now() - start) / kOpens;

  start = now();
  for (int i = 0; i < kOpens; ++i) failures += stat("/usr/lib/os-release", &status) != 0;
  double stat_time = (now() - start) / kOpens;

  int ends[2];
  char byte;
  struct iovec place = {&byte, 1};
  struct msghdr message = {.msg_iov = &place, .msg_iovlen = 1};
  failures += socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0;
  start = now();
  for (int i = 0; i < kWrites; ++i)
    failures += send(ends[0], "x", 1, 0) != 1 || recvmsg(ends[1], &message, 0) != 1;
  double message_time = (now() - start) / kWrites;

  start = now();
  for (int i = 0; i < kPrograms; ++i) {
    char* arguments[] = {"true", NULL};
    pid_t child;
    failures += posix_spawn(&child, "/bin/true", NULL, NULL, arguments, environ) != 0;
    waitpid(child, NULL, 0);
  }
  double start_time = (now() - start) / kPrograms;

  printf(
      "write %.0f ns, read %.0f ns, open and close %.0f ns, stat %.0f ns, send and recvmsg %.0f ns, start of "
      "/bin/true "
      "%.0f us\n",
      write_time, read_time, open_time, stat_time, message_time, start_time / 1000);
  return failures != 0;
}
