/* Sockets of NETLINK_RDMA, used as libmnl, libnl and Python use them. */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe_case.h"

/* Only where the stand-in shows devices: a kernel with RDMA has such sockets too. */
static int open_socket(void) {
  return access(NODE, F_OK) == 0 ? socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA) : -1;
}

static ssize_t send_request(int netlink, unsigned sequence) {
  struct nlmsghdr request = {sizeof request, 0x1401, NLM_F_REQUEST, sequence, 0};
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  return sendto(netlink, &request, sizeof request, 0, (struct sockaddr*)&kernel, sizeof kernel);
}

struct refusal {
  struct nlmsghdr header;
  struct nlmsgerr error;
};
static const char* is_refusal(const struct refusal* refusal, unsigned sequence) {
  EXPECT(refusal->header.nlmsg_type == NLMSG_ERROR && refusal->error.error == -EOPNOTSUPP);
  EXPECT(refusal->header.nlmsg_seq == sequence);
  return NULL;
}
static const char* is_kernel(const struct sockaddr_nl* sender, socklen_t length) {
  EXPECT(length == sizeof *sender && sender->nl_family == AF_NETLINK);
  EXPECT(sender->nl_pid == 0 && sender->nl_groups == 0);
  return NULL;
}
static const char* receive_message(int netlink, unsigned sequence) {
  struct refusal refusal;
  struct sockaddr_nl sender;
  struct iovec place = {&refusal, sizeof refusal};
  struct msghdr message = {
      .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &place, .msg_iovlen = 1};
  memset(&sender, 0xff, sizeof sender);
  EXPECT(recvmsg(netlink, &message, 0) == sizeof refusal && (message.msg_flags & MSG_TRUNC) == 0);
  const char* problem = is_kernel(&sender, message.msg_namelen);
  return problem != NULL ? problem : is_refusal(&refusal, sequence);
}

static const char* try_flags(void) {
  EXPECT(access(NODE, F_OK) == 0);
  int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_RDMA);
  EXPECT(netlink >= 0);
  EXPECT((fcntl(netlink, F_GETFD) & FD_CLOEXEC) != 0 && (fcntl(netlink, F_GETFL) & O_NONBLOCK) != 0);
  char byte;
  EXPECT(recv(netlink, &byte, 1, 0) == -1 && errno == EAGAIN);
  close(netlink);
  netlink = socket(AF_NETLINK, SOCK_DGRAM, NETLINK_RDMA);
  EXPECT(netlink >= 0);
  EXPECT((fcntl(netlink, F_GETFD) & FD_CLOEXEC) == 0 && (fcntl(netlink, F_GETFL) & O_NONBLOCK) == 0);
  close(netlink);
  EXPECT(socket(AF_NETLINK, SOCK_STREAM, NETLINK_RDMA) == -1 && errno == ESOCKTNOSUPPORT);
  return NULL;
}

static const char* try_addresses(void) {
  struct sockaddr_nl own = {.nl_family = AF_NETLINK};
  struct sockaddr_nl other = own;
  socklen_t length = sizeof own;
  int netlink = open_socket();
  int second = open_socket();
  EXPECT(netlink >= 0 && second >= 0);
  EXPECT(bind(netlink, (struct sockaddr*)&own, sizeof own) == 0);
  EXPECT(getsockname(netlink, (struct sockaddr*)&own, &length) == 0 && length == sizeof own);
  EXPECT(own.nl_family == AF_NETLINK && own.nl_pid != 0 && own.nl_groups == 0);
  EXPECT(getsockname(second, (struct sockaddr*)&other, &length) == 0 && other.nl_pid != own.nl_pid);
  struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
  EXPECT(connect(netlink, (struct sockaddr*)&kernel, sizeof kernel) == 0);
  EXPECT(getpeername(netlink, (struct sockaddr*)&other, &length) == 0 && is_kernel(&other, length) == NULL);
  EXPECT(connect(netlink, (struct sockaddr*)&own, sizeof own) == -1 && errno == EPERM);
  own.nl_groups = 1;
  EXPECT(bind(netlink, (struct sockaddr*)&own, sizeof own) == -1 && errno == EPERM);
  EXPECT(bind(netlink, (struct sockaddr*)&own, 2) == -1 && errno == EINVAL);
  close(netlink), close(second);
  return NULL;
}

static const char* try_options(void) {
  int netlink = open_socket();
  int value = 1;
  EXPECT(netlink >= 0);
  EXPECT(setsockopt(netlink, SOL_NETLINK, NETLINK_CAP_ACK, &value, sizeof value) == 0);
  EXPECT(setsockopt(netlink, SOL_NETLINK, NETLINK_EXT_ACK, &value, sizeof value) == 0);
  EXPECT(setsockopt(netlink, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &value, sizeof value) == -1 &&
         errno == EINVAL);
  EXPECT(setsockopt(netlink, SOL_NETLINK, 12345, &value, sizeof value) == -1 && errno == ENOPROTOOPT);
  value = 32768;
  EXPECT(setsockopt(netlink, SOL_SOCKET, SO_RCVBUF, &value, sizeof value) == 0);
  close(netlink);
  return NULL;
}

static const char* try_messages(void) {
  int netlink = open_socket();
  EXPECT(netlink >= 0 && send_request(netlink, 5) == sizeof(struct nlmsghdr));
  struct pollfd ready = {netlink, POLLIN, 0};
  EXPECT(poll(&ready, 1, 10000) == 1 && ready.revents == POLLIN);
  const char* problem = receive_message(netlink, 5);
  EXPECT(poll(&ready, 1, 0) == 0);
  if (problem != NULL) return problem;

  struct refusal refusal;
  struct sockaddr_nl sender;
  socklen_t length = sizeof sender;
  EXPECT(send_request(netlink, 6) == sizeof(struct nlmsghdr));
  EXPECT(recvfrom(netlink, &refusal, sizeof refusal, MSG_PEEK, (struct sockaddr*)&sender, &length) ==
         sizeof refusal);
  if ((problem = is_kernel(&sender, length)) != NULL) return problem;
  EXPECT(recvfrom(netlink, &refusal, sizeof refusal, 0, NULL, NULL) == sizeof refusal);
  close(netlink);
  return is_refusal(&refusal, 6);
}

static const char* try_several_messages(void) {
  enum { PLACES = 2 };
  struct refusal refusals[PLACES];
  struct sockaddr_nl senders[PLACES];
  struct iovec places[PLACES];
  struct mmsghdr messages[PLACES];
  int netlink = open_socket();
  EXPECT(netlink >= 0);
  memset(messages, 0, sizeof messages);
  for (int i = 0; i < PLACES; ++i) {
    places[i] = (struct iovec){&refusals[i], sizeof refusals[i]};
    messages[i].msg_hdr = (struct msghdr){
        .msg_name = &senders[i], .msg_namelen = sizeof senders[i], .msg_iov = &places[i], .msg_iovlen = 1};
  }
  struct timespec second = {1, 0};
  EXPECT(recvmmsg(netlink, messages, PLACES, MSG_DONTWAIT, &second) == -1 && errno == EAGAIN);
  EXPECT(send_request(netlink, 19) > 0);
  EXPECT(recvmmsg(netlink, messages, PLACES, MSG_WAITFORONE, NULL) == 1);
  EXPECT(send_request(netlink, 20) > 0 && send_request(netlink, 21) > 0);
  EXPECT(recvmmsg(netlink, messages, PLACES, 0, NULL) == PLACES);
  for (int i = 0; i < PLACES; ++i) {
    EXPECT(messages[i].msg_len == sizeof refusals[i]);
    const char* problem = is_kernel(&senders[i], messages[i].msg_hdr.msg_namelen);
    if (problem == NULL) problem = is_refusal(&refusals[i], 20 + i);
    if (problem != NULL) return problem;
  }
  close(netlink);
  return NULL;
}

/* A shorter buffer for the address gets its beginning, and the length tells. */
static const char* try_short_address(void) {
  struct refusal refusal;
  struct sockaddr_nl sender = {.nl_pid = 7, .nl_groups = 7};
  socklen_t length = 4;
  int netlink = open_socket();
  EXPECT(netlink >= 0 && send_request(netlink, 1) > 0);
  EXPECT(recvfrom(netlink, &refusal, sizeof refusal, 0, (struct sockaddr*)&sender, &length) ==
         sizeof refusal);
  EXPECT(length == sizeof sender && sender.nl_family == AF_NETLINK && sender.nl_pid == 7);
  close(netlink);
  return NULL;
}

/* The answer's length, asked for with a buffer that is too short, as libnl does. */
static const char* try_peek(void) {
  char byte;
  struct sockaddr_nl sender;
  struct iovec place = {&byte, 1};
  struct msghdr message = {
      .msg_name = &sender, .msg_namelen = sizeof sender, .msg_iov = &place, .msg_iovlen = 1};
  int netlink = open_socket();
  EXPECT(netlink >= 0 && send_request(netlink, 3) > 0);
  EXPECT(recvmsg(netlink, &message, MSG_PEEK | MSG_TRUNC) == sizeof(struct refusal));
  EXPECT((message.msg_flags & MSG_TRUNC) != 0);
  const char* problem = is_kernel(&sender, message.msg_namelen);
  if (problem == NULL) problem = receive_message(netlink, 3);
  close(netlink);
  return problem;
}

static const char* try_duplicate(void) {
  struct sockaddr_nl own = {.nl_family = AF_NETLINK};
  struct sockaddr_nl other;
  socklen_t length = sizeof own;
  int value = 1;
  int netlink = open_socket();
  int copy = dup(netlink);
  EXPECT(netlink >= 0 && copy >= 0);
  EXPECT(getsockname(netlink, (struct sockaddr*)&own, &length) == 0 && length == sizeof own);
  close(netlink);
  EXPECT(bind(copy, (struct sockaddr*)&own, sizeof own) == 0);
  EXPECT(getsockname(copy, (struct sockaddr*)&other, &length) == 0 && length == sizeof other);
  EXPECT(other.nl_family == AF_NETLINK && other.nl_pid == own.nl_pid);
  EXPECT(setsockopt(copy, SOL_NETLINK, NETLINK_EXT_ACK, &value, sizeof value) == 0);
  EXPECT(send_request(copy, 4) > 0);
  const char* problem = receive_message(copy, 4);
  close(copy);
  return problem;
}

static const char* try_epoll(void) {
  struct epoll_event event = {.events = EPOLLIN};
  int netlink = open_socket();
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  EXPECT(netlink >= 0 && epoll >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, netlink, &event) == 0);
  EXPECT(epoll_wait(epoll, &event, 1, 0) == 0);
  EXPECT(send_request(netlink, 8) > 0 && epoll_wait(epoll, &event, 1, 10000) == 1);
  EXPECT(event.events == EPOLLIN);
  const char* problem = receive_message(netlink, 8);
  EXPECT(epoll_wait(epoll, &event, 1, 0) == 0);
  close(netlink), close(epoll);
  return problem;
}

static const char* try_after_fork(void) {
  int status = 0;
  int netlink = open_socket();
  EXPECT(netlink >= 0);
  pid_t child = fork();
  if (child == 0) _exit(send_request(netlink, 9) > 0 && receive_message(netlink, 9) == NULL ? 0 : 1);
  EXPECT(waitpid(child, &status, 0) == child && status == 0);
  EXPECT(send_request(netlink, 10) > 0);
  const char* problem = receive_message(netlink, 10);
  close(netlink);
  return problem;
}

/* A Unix socket gets the descriptor number of a closed netlink socket. */
static const char* try_number_of_other_socket(void) {
  struct sockaddr_nl sender;
  socklen_t length = sizeof sender;
  int ends[2];
  char byte;
  int netlink = open_socket();
  EXPECT(netlink >= 0 && socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0);
  EXPECT(dup2(ends[0], netlink) == netlink && write(ends[1], "x", 1) == 1);
  EXPECT(recvfrom(netlink, &byte, 1, 0, (struct sockaddr*)&sender, &length) == 1 && length != sizeof sender);
  close(netlink), close(ends[0]), close(ends[1]);
  return NULL;
}

const struct probe_case netlink_cases[] = {
    {"netlink: flags", try_flags},
    {"netlink: addresses", try_addresses},
    {"netlink: options", try_options},
    {"netlink: messages", try_messages},
    {"netlink: several messages", try_several_messages},
    {"netlink: a short address", try_short_address},
    {"netlink: a peek", try_peek},
    {"netlink: a duplicate", try_duplicate},
    {"netlink: epoll", try_epoll},
    {"netlink: after fork", try_after_fork},
    {"netlink: a number of another socket", try_number_of_other_socket},
    {0, 0},
};
