/* Open device nodes: how programs see them, and the requests that the stand-in serves. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe_case.h"

struct create_channel {
  struct ib_uverbs_cmd_hdr header;
  struct ib_uverbs_create_comp_channel command;
};

static struct create_channel channel_request(struct ib_uverbs_create_comp_channel_resp* response) {
  struct create_channel request = {{IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, 4, 1}, {(uintptr_t)response}};
  return request;
}

static const char* try_flags(void) {
  int device = open(NODE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
  EXPECT(device >= 0);
  EXPECT((fcntl(device, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(device, F_GETFL) & O_NONBLOCK) != 0);
  close(device);
  device = open(NODE, O_RDWR);
  EXPECT(device >= 0);
  EXPECT((fcntl(device, F_GETFD) & FD_CLOEXEC) == 0 && (fcntl(device, F_GETFL) & O_NONBLOCK) == 0);
  close(device);
  return NULL;
}
static const char* is_device(int device) {
  struct stat status;
  EXPECT(device >= 0);
  EXPECT(fstat(device, &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == NODE_NUMBER);
  close(device);
  return NULL;
}
static const char* try_by_number(void) { return is_device(open("/dev/char/231:192", O_RDWR)); }
static const char* try_in_folder(void) {
  int folder = open("/dev/infiniband", O_RDONLY | O_DIRECTORY);
  EXPECT(folder >= 0);
  const char* problem = is_device(openat(folder, "uverbs0", O_RDWR));
  close(folder);
  return problem;
}
static const char* try_relative(void) {
  EXPECT(chdir("/dev/infiniband") == 0);
  return is_device(open("uverbs0", O_RDWR));
}
static const char* try_absent(void) {
  EXPECT(open("/dev/infiniband/uverbs1", O_RDWR) == -1 && errno == ENXIO);
  EXPECT(open("/dev/char/231:193", O_RDWR) == -1 && errno == ENXIO);
  EXPECT(open("/dev/infiniband/rdma_cm", O_RDWR) == -1 && errno == ENOENT);
  EXPECT(open(NODE, O_RDWR | O_DIRECTORY) == -1 && errno == ENOTDIR);
  return NULL;
}
static const char* try_ioctl(void) {
  int device = open(NODE, O_RDWR);
  char argument[64] = {0};
  EXPECT(device >= 0 && ioctl(device, _IOWR(0x1b, 1, char[24]), argument) == -1 && errno == ENOTTY);
  close(device);
  return NULL;
}

/* The request that libibverbs makes when it imports a device. */
union async_request {
  struct ib_uverbs_ioctl_hdr header;
  char bytes[sizeof(struct ib_uverbs_ioctl_hdr) + sizeof(struct ib_uverbs_attr)];
};
static int ask_for_events(int device, union async_request* request) {
  memset(request, 0, sizeof *request);
  request->header.length = sizeof *request;
  request->header.object_id = UVERBS_OBJECT_ASYNC_EVENT;
  request->header.method_id = UVERBS_METHOD_ASYNC_EVENT_ALLOC;
  request->header.num_attrs = 1;
  request->header.attrs[0].attr_id = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE;
  request->header.attrs[0].flags = UVERBS_ATTR_F_MANDATORY;
  return ioctl(device, RDMA_VERBS_IOCTL, request);
}
static const char* try_async_events(void) {
  union async_request request;
  uint64_t event = 0;
  int device = open(NODE, O_RDWR);
  EXPECT(device >= 0 && ask_for_events(device, &request) == 0);
  EXPECT((request.header.attrs[0].flags & UVERBS_ATTR_F_VALID_OUTPUT) != 0);
  int events = (int)request.header.attrs[0].data_s64;
  EXPECT((fcntl(events, F_GETFD) & FD_CLOEXEC) != 0);
  EXPECT(read(events, &event, sizeof event) == 8 && event == 0x1122334455667788);
  EXPECT(read(events, &event, sizeof event) == 0);
  close(events);
  /* The device process refuses the second request. */
  EXPECT(ask_for_events(device, &request) == -1 && errno == EMFILE);
  EXPECT((request.header.attrs[0].flags & UVERBS_ATTR_F_VALID_OUTPUT) == 0);
  close(device);
  return NULL;
}

/* A device node after fork, after exec, and under another descriptor number. */
static const char* try_inherited(void) {
  int device = open(NODE, O_RDWR);
  EXPECT(device >= 0);
  int status = 0;
  pid_t child = vfork();
  if (child == 0) {
    dup2(device, 9);
    execl("/proc/self/exe", "probe", "inherited", (char*)NULL);
    _exit(2);
  }
  EXPECT(child > 0 && waitpid(child, &status, 0) == child);
  close(device);
  EXPECT(status == 0);
  return NULL;
}

static const char* channel_works(int device) {
  struct ib_uverbs_create_comp_channel_resp response = {UINT32_MAX};
  struct create_channel request = channel_request(&response);
  struct stat status;
  uint64_t handle = 0;
  EXPECT(write(device, &request, sizeof request) == 16);
  int channel = (int)response.fd;
  EXPECT(fstat(channel, &status) == 0 && S_ISFIFO(status.st_mode));
  EXPECT((fcntl(channel, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(channel, F_GETFL) & O_ACCMODE) == O_RDONLY);
  struct pollfd ready = {channel, POLLIN, 0};
  EXPECT(poll(&ready, 1, 10000) == 1 && ready.revents != 0);
  EXPECT(read(channel, &handle, sizeof handle) == 8 && handle == 0x1122334455667788);
  /* The device process closes its end. If the stand-in's end were still open, this would wait for ever. */
  EXPECT(read(channel, &handle, sizeof handle) == 0);
  close(channel);
  return NULL;
}
static const char* try_channel(void) {
  int device = open(NODE, O_RDWR);
  EXPECT(device >= 0);
  const char* problem = channel_works(device);
  close(device);
  return problem;
}
static const char* try_channel_on_copy(void) {
  struct stat status;
  int device = open(NODE, O_RDWR);
  int copy = fcntl(device, F_DUPFD, 100);
  close(device);
  EXPECT(copy >= 100 && fstat(copy, &status) == 0); /* as ibv_import_device does */
  const char* problem = channel_works(copy);
  close(copy);
  return problem;
}
static const char* try_bad_commands(void) {
  struct ib_uverbs_create_comp_channel_resp response;
  struct create_channel request = channel_request(&response);
  int device = open(NODE, O_RDWR);
  EXPECT(device >= 0);
  EXPECT(write(device, &request, 15) == -1 && errno == EINVAL);
  EXPECT(write(device, &request, 3) == -1 && errno == EINVAL);
  request.header.out_words = 0;
  EXPECT(write(device, &request, sizeof request) == -1 && errno == EINVAL);
  request.header.command = IB_USER_VERBS_CMD_QUERY_DEVICE;
  EXPECT(write(device, &request, sizeof request) == -1 && errno == EOPNOTSUPP);
  close(device);
  return NULL;
}
/* A file gets the descriptor number of a closed device node. */
static const char* try_stale_entry(void) {
  struct ib_uverbs_create_comp_channel_resp response;
  struct create_channel request = channel_request(&response);
  int device = open(NODE, O_RDWR);
  EXPECT(device >= 0);
  close(device);
  FILE* file = tmpfile();
  EXPECT(file != NULL && dup2(fileno(file), device) == device);
  EXPECT(write(device, &request, sizeof request) == 16 && lseek(device, 0, SEEK_END) == 16);
  if (fileno(file) != device) close(device);
  fclose(file);
  return NULL;
}
static const char* try_closed_descriptors(void) {
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    closefrom(0);
    int device = open(NODE, O_RDWR);
    _exit(device == 0 && channel_works(device) == NULL ? 0 : 1);
  }
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  return NULL;
}
const struct probe_case device_cases[] = {
    {"open of a device node: flags", try_flags},
    {"open of a device node by number", try_by_number},
    {"openat of a device node", try_in_folder},
    {"open of a device node in the working directory", try_relative},
    {"open without a device", try_absent},
    {"ioctl", try_ioctl},
    {"ioctl for asynchronous events", try_async_events},
    {"an inherited device", try_inherited},
    {"a completion channel", try_channel},
    {"a completion channel on a duplicate", try_channel_on_copy},
    {"bad commands", try_bad_commands},
    {"a stale table entry", try_stale_entry},
    {"all descriptors closed", try_closed_descriptors},
    {0, 0},
};
