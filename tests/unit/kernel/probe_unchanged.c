/* Calls that the stand-in must not change. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe_case.h"

static const char* try_other_sockets(void) {
  struct stat status;
  int ends[2];
  EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
  errno = 0;
  EXPECT(fstat(ends[0], &status) == 0 && S_ISSOCK(status.st_mode) && errno == 0);
  close(ends[0]), close(ends[1]);
  int other = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
  EXPECT(other >= 0);
  close(other);
  return NULL;
}

static void* fill_pipe(void* argument) {
  static char block[4096];
  while (write(*(int*)argument, block, sizeof block) > 0) {
  }
  return NULL;
}
static void* read_from_pipe(void* argument) {
  static char byte; /* not on the stack, whose sanitizer does not see the cancellation */
  return read(*(int*)argument, &byte, 1) == 1 ? argument : NULL;
}
/* write and read, interposed, are still cancellation points. */
static const char* try_cancellation(void) {
  int ends[2];
  pthread_t writer;
  void* result = NULL;
  EXPECT(pipe(ends) == 0);
  EXPECT(pthread_create(&writer, NULL, fill_pipe, &ends[1]) == 0);
  EXPECT(pthread_cancel(writer) == 0 && pthread_join(writer, &result) == 0);
  EXPECT(result == PTHREAD_CANCELED);
  close(ends[0]), close(ends[1]);
  pthread_t reader;
  EXPECT(pipe(ends) == 0);
  EXPECT(pthread_create(&reader, NULL, read_from_pipe, &ends[0]) == 0);
  EXPECT(pthread_cancel(reader) == 0 && pthread_join(reader, &result) == 0);
  EXPECT(result == PTHREAD_CANCELED);
  close(ends[0]), close(ends[1]);
  return NULL;
}

static const char* try_bad_pointers(void) {
  const char* volatile nowhere = NULL;
  struct stat status;
  EXPECT(open(nowhere, O_RDONLY) == -1 && errno == EFAULT);
  EXPECT(access(nowhere, F_OK) == -1 && errno == EFAULT);
  EXPECT(chdir(nowhere) == -1 && errno == EFAULT);
  EXPECT(stat("", &status) == -1 && errno == ENOENT);
  EXPECT(write(-1, "x", 1) == -1 && errno == EBADF);
  EXPECT(write(0x7fffffff, "x", 1) == -1 && errno == EBADF);
  char byte;
  EXPECT(read(-1, &byte, 1) == -1 && errno == EBADF);
  EXPECT(read(0x7fffffff, &byte, 1) == -1 && errno == EBADF);
  return NULL;
}

static const char* try_new_file(void) {
  char folder[] = "/tmp/urnic-probe-XXXXXX";
  EXPECT(mkdtemp(folder) != NULL && chdir(folder) == 0);
  /* A name that begins like a mapped one, in the program's own folder. */
  int file = open("infiniband.log", O_CREAT | O_EXCL | O_WRONLY, 0640);
  struct stat status;
  EXPECT(file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0777 & ~0640U) == 0);
  EXPECT(write(file, "x", 1) == 1);
  close(file);
  file = open(folder, O_TMPFILE | O_RDWR, 0600);
  EXPECT(file >= 0 && fstat(file, &status) == 0 && (status.st_mode & 0777) == 0600);
  close(file);
  EXPECT(unlink("infiniband.log") == 0 && rmdir(folder) == 0);
  return NULL;
}

static const char* try_vfork(void) {
  int status = 0;
  int ends[2];
  char letter = 0;
  EXPECT(pipe(ends) == 0);
  pid_t child = vfork();
  if (child == 0) {
    int null = open("/dev/null", O_WRONLY);
    _exit(null >= 0 && write(ends[1], "x", 1) == 1 ? 0 : 1);
  }
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(read(ends[0], &letter, 1) == 1 && letter == 'x');
  close(ends[0]), close(ends[1]);
  return NULL;
}

/* Like Go's signal stacks: a small stack, and the call comes from a signal handler. */
static int handled;
static void handle(int signal) {
  (void)signal;
  struct stat status;
  int file = open("/sys/class/infiniband/none", O_RDONLY);
  handled = file == -1 && stat("/dev/null", &status) == 0 && access("/dev/infiniband/none", F_OK) == -1;
}
static const char* try_signal_stack(void) {
  static char room[16384];
  stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  EXPECT(sigaltstack(&stack, NULL) == 0 && sigaction(SIGUSR1, &action, NULL) == 0);
  EXPECT(raise(SIGUSR1) == 0 && handled == 1);
  stack.ss_flags = SS_DISABLE;
  sigaltstack(&stack, NULL);
  return NULL;
}

const struct probe_case unchanged_cases[] = {
    {"other sockets", try_other_sockets},
    {"cancellation", try_cancellation},
    {"bad pointers", try_bad_pointers},
    {"new files", try_new_file},
    {"vfork", try_vfork},
    {"a signal stack", try_signal_stack},
    {0, 0},
};
