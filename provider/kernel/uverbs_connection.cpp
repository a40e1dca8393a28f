#include "provider/kernel/uverbs_connection.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>

#include "provider/freestanding/socket_retry.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/crowd.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/device_number.hpp"
#include "provider/kernel/device_pages.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/reply_socket.hpp"
#include "provider/kernel/socket_identity.hpp"
#include "provider/old_symbol_versions.hpp"
#include "provider/process_identity.hpp"
#include "trust/peer.hpp"

namespace urnic::kernel {

namespace {

// Contexts that a process may have open in this way.
constexpr size_t kRecords = 1024;
constinit UverbsRecord records[kRecords] = {};
constinit provider::Mutex records_lock;
constinit bool has_records = false;  // most processes have none

UverbsRecord* find_record(uint64_t cookie) {
  if (!has_records) return nullptr;
  for (size_t i = 0; i < kRecords; ++i) {
    UverbsRecord& record = records[(cookie + i) % kRecords];
    if (record.cookie == cookie) return &record;
  }
  return nullptr;
}

// The program closes its descriptors without the stand-in's knowledge.
bool is_free(const UverbsRecord& record) {
  return record.cookie == 0 || socket_cookie(record.descriptor) != record.cookie;
}

// A program that closes all descriptors closes this one, too.
void close_own_connection(UverbsRecord& record) {
  if (record.own_connection >= 0 && socket_cookie(record.own_connection) == record.own_cookie)
    close(record.own_connection);
  record.own_connection = -1;
}

void empty(UverbsRecord& record) {
  close_own_connection(record);
  record.is_childs = false;
  record.sequence = 0;
  record.token = {};
  record.cookie = 0;
}

UverbsRecord* make_record(uint64_t cookie, int descriptor) {
  for (size_t i = 0; i < kRecords; ++i) {
    UverbsRecord& record = records[(cookie + i) % kRecords];
    if (!is_free(record)) continue;
    empty(record);
    has_records = true;
    record.cookie = cookie;
    record.descriptor = descriptor;
    return &record;
  }
  return nullptr;
}

// Here there is one thread. Another one of the parent's may have held the locks.
void after_fork_in_child() {
  records_lock.renew();
  for (UverbsRecord& record : records) {
    record.lock.renew();
    close_own_connection(record);
    record.is_childs = record.cookie != 0;
  }
}

void register_fork_handler() { pthread_atfork(nullptr, nullptr, after_fork_in_child); }

// By `syscall`, as all waits here: a thread that is cancelled would keep its turn.
ssize_t receive_message(int socket, msghdr& message) {
  for (abi::ShortWait short_wait(crowd); short_wait.yield();) {
    const long length = syscall(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length >= 0 || (errno != EAGAIN && errno != EINTR)) return length;
  }
  long length = 0;
  do {
    length = syscall(SYS_recvmsg, socket, &message, MSG_CMSG_CLOEXEC);
  } while (length < 0 && provider::should_retry_to_the_end(socket, POLLIN));
  return length;
}

void take_descriptors(msghdr& message, UverbsReply& reply) {
  size_t count = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t bytes = part->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(part) + at, sizeof number);
      provider::Descriptor descriptor(number);
      if (count < UverbsRequest::kMaxDescriptors)
        reply.descriptors[count++] = static_cast<provider::Descriptor&&>(descriptor);
    }
  }
}

// A connection to the node at the other end of `existing`. Negative, and errno: there is none.
int connect_to_same_node(int existing) {
  sockaddr_un address = {};
  socklen_t length = sizeof address;
  if (real::getpeername(existing, reinterpret_cast<sockaddr*>(&address), &length) != 0) return -1;
  const char* const slash = std::strrchr(address.sun_path, '/');
  PathText node;
  append_node_path(slash == nullptr ? address.sun_path : slash + 1, node);
  const int low = connect_to_node(node, O_CLOEXEC);
  if (low < 0) return -1;
  const int high = fcntl(low, F_DUPFD_CLOEXEC, ReplySocket::kLowestDescriptor);
  if (high < 0) return low;
  close(low);
  return high;
}

}  // namespace

int socket_of(int device) {
  const uint64_t cookie = socket_cookie(device);
  const provider::Lock lock(records_lock);
  UverbsRecord* const record = cookie != 0 ? find_record(cookie) : nullptr;
  return record != nullptr && record->is_childs && record->own_connection >= 0 ? record->own_connection
                                                                               : device;
}

UverbsTurn::UverbsTurn(int descriptor, bool begins) : descriptor_(descriptor), record_(nullptr), error_(0) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork_handler);
  const uint64_t cookie = socket_cookie(descriptor);
  {
    const provider::Lock lock(records_lock);
    record_ = find_record(cookie);
    if (record_ == nullptr && !begins) {
      error_ = EOPNOTSUPP;
    } else if (record_ == nullptr) {
      record_ = make_record(cookie, descriptor);
      if (record_ == nullptr) error_ = EMFILE;
    }
  }
  if (error_ != 0) return;
  record_->lock.lock();
  record_->descriptor = descriptor;
  if (record_->is_childs && record_->own_connection < 0) error_ = join();
}

UverbsTurn::~UverbsTurn() {
  if (record_ != nullptr) record_->lock.unlock();
}

int UverbsTurn::socket() const { return record_->is_childs ? record_->own_connection : descriptor_; }

int UverbsTurn::send(const UverbsRequest& request) {
  abi::RequestHeader header = {};
  iovec parts[1 + UverbsRequest::kMaxParts] = {{&header, sizeof header}};
  size_t length = sizeof header;
  for (size_t i = 0; i < request.part_count; ++i) {
    parts[1 + i] = request.parts[i];
    length += request.parts[i].iov_len;
  }
  if (length > abi::kMaxControlMessage) return EINVAL;
  header.magic = abi::kControlMagic;
  header.opcode = static_cast<uint32_t>(request.opcode);
  header.length = static_cast<uint32_t>(length);
  header.sequence = ++record_->sequence;
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 1 + request.part_count;
  alignas(cmsghdr) char control[CMSG_SPACE(UverbsRequest::kMaxDescriptors * sizeof(int))] = {};
  if (request.descriptor_count != 0) {
    const size_t bytes = request.descriptor_count * sizeof(int);
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr* const rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), request.descriptors, bytes);
  }
  long sent = 0;
  do {
    sent = syscall(SYS_sendmsg, socket(), &message, MSG_NOSIGNAL);
  } while (sent < 0 && provider::should_retry_to_the_end(socket(), POLLOUT));
  if (sent >= 0) return 0;
  return errno == EFAULT || errno == EBADF ? errno : EIO;
}

int UverbsTurn::receive(const UverbsRequest& request, UverbsReply& reply) {
  abi::ReplyHeader header = {};
  iovec parts[] = {{&header, sizeof header}, {reply.body, sizeof reply.body}};
  alignas(cmsghdr) char control[CMSG_SPACE(UverbsRequest::kMaxDescriptors * sizeof(int))];
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t length = receive_message(socket(), message);
  if (length < 0) return EIO;
  take_descriptors(message, reply);
  if (length < static_cast<ssize_t>(sizeof header) || header.magic != abi::kControlMagic ||
      header.sequence != record_->sequence || header.opcode != static_cast<uint32_t>(request.opcode))
    return EIO;
  reply.length = static_cast<size_t>(length) - sizeof header;
  return header.error >= 0 ? header.error : EIO;
}

int UverbsTurn::ask(const UverbsRequest& request, UverbsReply& reply) {
  const KeptErrno kept;
  for (provider::Descriptor& each : reply.descriptors) each.reset();
  reply.length = 0;
  if (const int error = send(request)) return error;
  return receive(request, reply);
}

int UverbsTurn::join() {
  const KeptErrno kept;
  const int connection = connect_to_same_node(descriptor_);
  if (connection < 0) return errno;
  record_->own_connection = connection;
  record_->own_cookie = socket_cookie(connection);
  record_->sequence = 0;
  provider::ProcessIdentity identity;
  if (const int error = identity.open()) {
    close_own_connection(*record_);
    return error;
  }
  provider::allow_memory_access_by_peer(connection);
  abi::JoinContextRequest body = {};
  body.token = record_->token;
  body.version = abi::kControlVersion;
  provider::copy_program_name(body.program);
  const iovec part = {&body, sizeof body};
  const int all[] = {identity.pid_descriptor.get(), identity.memory.get()};
  const auto descriptors = identity.to_send(all);
  UverbsReply reply;
  int error =
      ask({abi::ControlOpcode::join_context, &part, 1, descriptors.data(), descriptors.size()}, reply);
  if (error == 0) error = map_pages_of_parent(*this, descriptor_);
  if (error != 0) close_own_connection(*record_);
  return error;
}

}  // namespace urnic::kernel
