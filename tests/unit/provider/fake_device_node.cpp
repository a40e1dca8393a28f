// Replaces the kernel stand-in in this test program: libibverbs finds the program's definitions of these
// functions before the C library's.
#include <dlfcn.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <string>

#include "tests/unit/provider/fake_device.hpp"

namespace {

constexpr char kNode[] = "/dev/infiniband/uverbs0";
std::string node_socket;

template <typename Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_node_socket(int descriptor) {
  sockaddr_un address{};
  socklen_t length = sizeof address;
  return getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &length) == 0 &&
         address.sun_family == AF_UNIX && node_socket == address.sun_path;
}

void become_character_device(struct stat& status) {
  status.st_mode = S_IFCHR | 0600;
  status.st_rdev = makedev(231, 192);
}

int connect_node() {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, node_socket.c_str(), sizeof address.sun_path - 1);
  const int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(connection, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return connection;
  close(connection);
  return -1;
}

void announce_channel(int connection, const int (&ends)[2]) {
  struct {
    urnic::abi::RequestHeader header;
    urnic::abi::AddCompletionChannelRequest body;
  } request{};
  request.header = {urnic::abi::kControlMagic,
                    static_cast<std::uint32_t>(urnic::abi::ControlOpcode::add_completion_channel),
                    sizeof request, 0};
  iovec part{&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof ends)] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof ends);
  std::memcpy(CMSG_DATA(rights), ends, sizeof ends);
  sendmsg(connection, &message, MSG_NOSIGNAL);
}

ssize_t create_channel(int connection, const void* data, std::size_t size) {
  struct {
    ib_uverbs_cmd_hdr header;
    ib_uverbs_create_comp_channel body;
  } command;
  std::memcpy(&command, data, sizeof command);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return -1;
  announce_channel(connection, ends);
  close(ends[1]);
  ib_uverbs_create_comp_channel_resp response{static_cast<__u32>(ends[0])};
  std::memcpy(reinterpret_cast<void*>(command.body.response), &response, sizeof response);
  return static_cast<ssize_t>(size);
}

}  // namespace

namespace urnic::test {
void attach_fake_node(const std::string& node) { node_socket = node; }
}  // namespace urnic::test

extern "C" {

int open(const char* path, int flags, ...) {
  if (!node_socket.empty() && std::strcmp(path, kNode) == 0) return connect_node();
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return next<int (*)(const char*, int, mode_t)>("open")(path, flags, mode);
}

int stat(const char* path, struct stat* status) {
  if (std::strcmp(path, kNode) != 0) return next<int (*)(const char*, struct stat*)>("stat")(path, status);
  *status = {};
  become_character_device(*status);
  return 0;
}

int fstat(int descriptor, struct stat* status) {
  const int result = next<int (*)(int, struct stat*)>("fstat")(descriptor, status);
  if (result == 0 && S_ISSOCK(status->st_mode) && is_node_socket(descriptor))
    become_character_device(*status);
  return result;
}

ssize_t write(int descriptor, const void* data, std::size_t size) {
  if (size == 16) {
    ib_uverbs_cmd_hdr header;
    std::memcpy(&header, data, sizeof header);
    if (header.command == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL && is_node_socket(descriptor)) {
      return create_channel(descriptor, data, size);
    }
  }
  return next<ssize_t (*)(int, const void*, std::size_t)>("write")(descriptor, data, size);
}

// Without RDMA netlink, libibverbs finds devices in sysfs, also where the kernel has RDMA.
int socket(int domain, int type, int protocol) {
  constexpr int kNetlinkRdma = 20;
  if (domain == AF_NETLINK && protocol == kNetlinkRdma) {
    errno = EPROTONOSUPPORT;
    return -1;
  }
  return next<int (*)(int, int, int)>("socket")(domain, type, protocol);
}
}
