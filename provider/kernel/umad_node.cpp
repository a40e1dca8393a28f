#include "provider/kernel/umad_node.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <rdma/rdma_user_ioctl.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/umad_messages.hpp"
#include "provider/freestanding/socket_retry.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/umad_long_packet.hpp"

namespace urnic::kernel {

namespace {

// Linux: umad nodes are the first 64 of this major number (Documentation/admin-guide/devices.txt).
constexpr unsigned kMajor = 231;
constexpr unsigned kMinors = 64;

struct Request {
  abi::UmadRequestKind kind;
  const void* data;
  size_t size;
  void* answer;   // where the ioctl's argument goes; null: nothing comes back
  int rest = -1;  // of a long packet
};

// 0 or an errno. `reply_end` goes with the request, and the packet's rest.
int send_request(int node, const Request& request, int reply_end) {
  abi::UmadRequest header = {abi::kUmadMagic, static_cast<uint32_t>(request.kind)};
  iovec parts[] = {{&header, sizeof header}, {const_cast<void*>(request.data), request.size}};
  const int descriptors[] = {reply_end, request.rest};
  const size_t bytes = request.rest < 0 ? sizeof reply_end : sizeof descriptors;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptors)] = {};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(bytes);
  cmsghdr* const rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(bytes);
  std::memcpy(CMSG_DATA(rights), descriptors, bytes);
  ssize_t sent = 0;
  do {
    sent = sendmsg(node, &message, MSG_NOSIGNAL);
  } while (sent < 0 && provider::should_retry(node, POLLOUT));
  if (sent < 0) return errno == EFAULT ? EFAULT : errno == ETOOMANYREFS ? ENOMEM : EIO;
  const char mark = 0;
  send(node, &mark, sizeof mark, MSG_NOSIGNAL | MSG_DONTWAIT);
  return 0;
}

// 0 or an errno. The kernel copies the answer, so a bad pointer does no harm.
int receive_reply(int descriptor, const Request& request) {
  abi::UmadReply reply = {};
  iovec parts[] = {{&reply, sizeof reply}, {request.answer, request.answer != nullptr ? request.size : 0}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  ssize_t length = 0;
  do {
    length = real::recvmsg(descriptor, &message, 0);
  } while (length < 0 && errno == EINTR);
  if (length < 0 && errno == EFAULT) return EFAULT;
  if (length < static_cast<ssize_t>(sizeof reply) || reply.magic != abi::kUmadMagic) return EIO;
  return reply.error;
}

// 0 or an errno. A socket pair for each request: other threads and children of fork may use the node, too.
int ask(int node, const Request& request) {
  const KeptErrno kept;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
  int error = send_request(node, request, ends[1]);
  close(ends[1]);
  if (error == 0) error = receive_reply(ends[0], request);
  close(ends[0]);
  return error;
}

int result_of(int error, int success) {
  if (error == 0) return success;
  errno = error;
  return -1;
}

}  // namespace

bool is_umad_number(dev_t number) { return major(number) == kMajor && minor(number) < kMinors; }

bool is_umad_request(unsigned long request) {
  return request == IB_USER_MAD_REGISTER_AGENT || request == IB_USER_MAD_REGISTER_AGENT2 ||
         request == IB_USER_MAD_UNREGISTER_AGENT || request == IB_USER_MAD_ENABLE_PKEY;
}

// A packet that the buffer has no room for stays (ib_umad's copy_recv_mad). If its message is several
// datagrams, the first one is copied, with its length in the header, so that the program can make room. Of
// two threads that read at once, one may still lose a packet to a buffer that is too small.
ssize_t read_from_umad(int descriptor, void* data, size_t size) {
  if (size < sizeof(ib_user_mad_hdr_old)) return result_of(EINVAL, 0);
  const PacketBytes room = {data, size};
  NextPacket next = {};
  if (const int error = peek_packet(descriptor, room, next)) return result_of(error, 0);
  if (next.beginning > size) return result_of(EINVAL, 0);
  if (next.whole > size) return result_of(ENOSPC, 0);
  const ssize_t length = read_packet(descriptor, room);
  if (length == 0 || (length < 0 && errno == ECONNRESET)) return result_of(EIO, 0);
  return length;
}

// A signal ends a wait as it ends the kernel's: recv goes on after handlers with SA_RESTART.
int become_subnet_manager(int descriptor, int flags) {
  const bool may_wait = (flags & O_NONBLOCK) == 0;
  const abi::IssmRequest request = {abi::kUmadMagic, may_wait ? 1U : 0U};
  if (send(descriptor, &request, sizeof request, MSG_NOSIGNAL) != sizeof request) return ENXIO;
  abi::UmadReply reply = {};
  ssize_t length = 0;
  do {
    length = real::recvfrom(descriptor, &reply, sizeof reply, 0, nullptr, nullptr);
  } while (length < 0 && !may_wait && provider::should_retry(descriptor, POLLIN));
  if (length < 0) return errno == EINTR ? EINTR : ENXIO;
  return length == sizeof reply && reply.magic == abi::kUmadMagic ? reply.error : ENXIO;
}

ssize_t write_to_umad(int descriptor, const void* data, size_t size) {
  if (size > abi::kMostUmadBytes) return result_of(ENOMEM, 0);
  if (size <= abi::kMaxUmadPacket)
    return result_of(ask(descriptor, {abi::UmadRequestKind::write, data, size, nullptr}),
                     static_cast<int>(size));
  const int rest = make_packet_rest(data, size);
  if (rest < 0) return -1;
  const int error = ask(descriptor, {abi::UmadRequestKind::write, data, abi::kMaxUmadPacket, nullptr, rest});
  close(rest);
  return result_of(error, static_cast<int>(size));
}

int ioctl_on_umad(int descriptor, unsigned long request, void* argument) {
  switch (request) {
    case IB_USER_MAD_REGISTER_AGENT:
      return result_of(ask(descriptor, {abi::UmadRequestKind::register_agent, argument,
                                        sizeof(ib_user_mad_reg_req), argument}),
                       0);
    case IB_USER_MAD_REGISTER_AGENT2:
      return result_of(ask(descriptor, {abi::UmadRequestKind::register_agent2, argument,
                                        sizeof(ib_user_mad_reg_req2), argument}),
                       0);
    case IB_USER_MAD_UNREGISTER_AGENT:
      return result_of(
          ask(descriptor, {abi::UmadRequestKind::unregister_agent, argument, sizeof(__u32), nullptr}), 0);
    case IB_USER_MAD_ENABLE_PKEY:
      return result_of(ask(descriptor, {abi::UmadRequestKind::enable_pkey, nullptr, 0, nullptr}), 0);
    default:
      return result_of(ENOTTY, 0);
  }
}

}  // namespace urnic::kernel
