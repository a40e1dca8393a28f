#include "provider/kernel/reply_socket.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "provider/kept_errno.hpp"
#include "provider/kernel/crowd.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/kept_answers.hpp"
#include "provider/kernel/socket_identity.hpp"

namespace urnic::kernel {

namespace {

constinit ReplySocket::Slot slots[ReplySocket::kKept] = {};

// A slot whose owner is another process was busy when this one was forked, and nobody here will free it.
bool take(ReplySocket::Slot& slot, pid_t process) {
  pid_t owner = __atomic_load_n(&slot.owner, __ATOMIC_RELAXED);
  return owner != process &&
         __atomic_compare_exchange_n(&slot.owner, &owner, process, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

ReplySocket::Slot* take_any(pid_t process) {
  for (ReplySocket::Slot& slot : slots) {
    if (take(slot, process)) return &slot;
  }
  return nullptr;
}

int connect_above_the_lowest() {
  PathText node;
  append_node_path(kRdmaCmNode, node);
  const int low = connect_to_node(node, O_CLOEXEC);
  if (low < 0) return -1;
  const KeptErrno kept;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, ReplySocket::kLowestDescriptor);
  if (high < 0) return low;
  close(low);
  return high;
}

// By `syscall`: a thread that is cancelled in recvmsg would keep its slot.
ssize_t receive(int descriptor, msghdr& message) {
  for (abi::ShortWait short_wait(crowd); short_wait.yield();) {
    const long length = syscall(SYS_recvmsg, descriptor, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length >= 0 || (errno != EAGAIN && errno != EINTR)) return length;
  }
  long length = 0;
  do {
    length = syscall(SYS_recvmsg, descriptor, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && errno == EINTR);
  return length;
}

ssize_t receive_parts(int descriptor, iovec* parts, size_t count) {
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  return receive(descriptor, message);
}

// The descriptor that came with the message, or -1.
int sent_descriptor(msghdr& message) {
  const cmsghdr* const part = CMSG_FIRSTHDR(&message);
  if (part == nullptr || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS ||
      part->cmsg_len != CMSG_LEN(sizeof(int)))
    return -1;
  int descriptor = -1;
  std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
  return descriptor;
}

bool ask_for_name(int descriptor) {
  abi::RdmaCmRequest request = {};
  request.magic = abi::kRdmaCmMagic;
  request.kind = static_cast<uint32_t>(abi::RdmaCmRequestKind::open_reply_socket);
  return send(descriptor, &request, sizeof request, MSG_NOSIGNAL) == sizeof request;
}

bool is_reply(ssize_t length, const abi::RdmaCmReply& reply) {
  return length >= static_cast<ssize_t>(sizeof reply) && reply.magic == abi::kRdmaCmMagic;
}

bool receive_name(int descriptor, abi::SocketName& name) {
  abi::RdmaCmReply reply = {};
  iovec parts[] = {{&reply, sizeof reply}, {&name, sizeof name}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = receive(descriptor, message);
  if (length < 0) return false;
  use_identifier_changes(sent_descriptor(message));
  return is_reply(length, reply) && reply.error == 0 && reply.length == sizeof name;
}

}  // namespace

ReplySocket::ReplySocket(pid_t process) : process_(process), current_(take_any(process)) {
  if (current_ == nullptr) current_ = &own_;
  if (!is_usable()) open();
}

ReplySocket::~ReplySocket() {
  if (current_ == &own_) {
    close_descriptor();
  } else {
    __atomic_store_n(&current_->owner, 0, __ATOMIC_RELEASE);
  }
}

// After fork the socket is the parent's. A program that closes all descriptors closes this one too.
bool ReplySocket::is_usable() const {
  return current_->descriptor >= 0 && current_->process == process_ &&
         socket_cookie(current_->descriptor) == current_->cookie;
}

void ReplySocket::close_descriptor() {
  const KeptErrno kept;
  if (current_->descriptor >= 0 && socket_cookie(current_->descriptor) == current_->cookie)
    close(current_->descriptor);
  current_->descriptor = -1;
}

void ReplySocket::open() {
  close_descriptor();
  const int descriptor = connect_above_the_lowest();
  if (descriptor < 0) return;
  current_->process = process_;
  current_->descriptor = descriptor;
  current_->cookie = socket_cookie(descriptor);
  if (ask_for_name(descriptor) && receive_name(descriptor, current_->name)) return;
  close_descriptor();
  errno = EIO;
}

bool ReplySocket::receive(const Room& room, abi::RdmaCmReply& reply) {
  reply = {};
  iovec parts[] = {{&reply, sizeof reply},
                   {room.place, room.size},
                   {room.further, room.further != nullptr ? abi::kMaxFurtherAnswers : 0}};
  ssize_t length = receive_parts(current_->descriptor, parts, 3);
  const bool bad_address = length < 0 && errno == EFAULT;
  // The kernel has taken the message off the socket only if it got as far as the program's memory.
  if (bad_address && reply.magic != abi::kRdmaCmMagic) length = receive_parts(current_->descriptor, parts, 1);
  if (bad_address && reply.magic == abi::kRdmaCmMagic) {
    errno = EFAULT;
    return false;
  }
  if (is_reply(length, reply)) return true;
  close_descriptor();
  errno = EIO;
  return false;
}

}  // namespace urnic::kernel
