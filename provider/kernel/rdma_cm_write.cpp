#include "provider/kernel/rdma_cm_write.hpp"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/rdma_cm_messages.hpp"
#include "provider/freestanding/socket_retry.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/crowd.hpp"
#include "provider/kernel/kept_answers.hpp"
#include "provider/kernel/program_memory.hpp"
#include "provider/kernel/reply_socket.hpp"
#include "provider/kernel/signal_restart.hpp"
#include "provider/old_symbol_versions.hpp"

namespace urnic::kernel {

namespace {

// Where the body of each command has the pointer to the program's answer; others have none.
constexpr int kNone = -1;
int response_offset(uint32_t command) {
  switch (command) {
    case RDMA_USER_CM_CMD_CREATE_ID:
      return offsetof(rdma_ucm_create_id, response);
    case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
    case RDMA_USER_CM_CMD_JOIN_MCAST:
    case RDMA_USER_CM_CMD_DESTROY_ID:
    case RDMA_USER_CM_CMD_QUERY_ROUTE:
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
    case RDMA_USER_CM_CMD_GET_EVENT:
    case RDMA_USER_CM_CMD_LEAVE_MCAST:
    case RDMA_USER_CM_CMD_MIGRATE_ID:
    case RDMA_USER_CM_CMD_QUERY:
      return 0;
    default:
      return kNone;
  }
}

// A command in a copy of its own. The program's memory may be unreadable or change meanwhile.
struct Command {
  rdma_ucm_cmd_hdr header;
  unsigned char body[abi::kMaxRdmaCmCommand - sizeof header];
  size_t body_length;  // of what was written and the header names
};
static_assert(offsetof(Command, body) == sizeof(rdma_ucm_cmd_hdr));

// The part of the body at `offset`; zeros where the body is too short, which the device process refuses.
template <typename Field>
Field field(const Command& command, size_t offset) {
  Field value = {};
  if (offset + sizeof value <= command.body_length) std::memcpy(&value, command.body + offset, sizeof value);
  return value;
}

// 0 or the errno of the kernel's ucma_write.
int read_command(const ProgramMemory& memory, const void* data, size_t size, Command& command) {
  constexpr size_t kMost = sizeof command.header + sizeof command.body;
  if (size < sizeof command.header) return EINVAL;
  const size_t readable = memory.read(&command, data, size < kMost ? size : kMost);
  if (readable < sizeof command.header) return EFAULT;
  if (command.header.in + sizeof command.header > size) return EINVAL;
  command.body_length = command.header.in < sizeof command.body ? command.header.in : sizeof command.body;
  return readable < sizeof command.header + command.body_length ? EFAULT : 0;
}

// The program's descriptor and its socket_cookie, and the memory that its commands name.
struct Channel {
  int descriptor;
  uint64_t cookie;
  ProgramMemory memory;
};

// What goes to the device process beside the command.
struct Extras {
  abi::SocketName channel;
  unsigned char option[abi::kMaxRdmaCmOption];
  size_t option_length;
  uint32_t token;
};

bool send_parts(int channel, iovec* parts, size_t count) {
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = count;
  long sent = 0;
  do {
    sent = syscall(SYS_sendmsg, channel, &message, MSG_NOSIGNAL);
  } while (sent < 0 && provider::should_retry_to_the_end(channel, POLLOUT));
  return sent > 0;
}

bool send_request(int channel, abi::RdmaCmRequestKind kind, const abi::SocketName& reply,
                  const Command& command, const Extras& extras) {
  abi::RdmaCmRequest request = {};
  request.magic = abi::kRdmaCmMagic;
  request.kind = static_cast<uint32_t>(kind);
  request.reply = reply;
  request.channel = extras.channel;
  request.takes_events = 1;
  request.token = extras.token;
  if (kind == abi::RdmaCmRequestKind::command) {
    request.command_length = static_cast<uint32_t>(sizeof command.header + command.body_length);
    request.option_length = static_cast<uint32_t>(extras.option_length);
  }
  iovec parts[] = {{&request, sizeof request},
                   {const_cast<Command*>(&command), request.command_length},
                   {const_cast<unsigned char*>(extras.option), request.option_length}};
  return send_parts(channel, parts, 3);
}

// Another thread may have taken some of them meanwhile; GET_EVENT then finds no event, and waits again.
void discard_tokens(int channel, uint32_t count) {
  const KeptErrno kept;
  char token;
  while (count-- > 0 && syscall(SYS_recvfrom, channel, &token, 1, MSG_DONTWAIT, nullptr, nullptr) == 1) {
  }
}

ReplySocket::Room room_of(const Command& command) {
  const int offset = response_offset(command.header.cmd);
  if (offset == kNone) return {};
  const auto place = field<uint64_t>(command, static_cast<size_t>(offset));
  return {reinterpret_cast<void*>(place), command.header.out};
}

// `emptied`: the channel from which the command takes events. 0 or an errno.
int execute(int channel, const Command& command, const Extras& extras, int emptied,
            const ReplySocket::Room& room, abi::RdmaCmReply& reply) {
  ReplySocket replies(getpid());
  if (!replies.is_open() ||
      !send_request(channel, abi::RdmaCmRequestKind::command, replies.name(), command, extras))
    return EIO;
  const bool received = replies.receive(room, reply);
  const int error = received ? reply.error : errno;
  discard_tokens(emptied, reply.discard);
  return error;
}

int execute(int channel, const Command& command, const ReplySocket::Room& room) {
  abi::RdmaCmReply reply;
  return execute(channel, command, {}, channel, room, reply);
}

int execute(int channel, const Command& command) { return execute(channel, command, room_of(command)); }

// DESTROY_ID and LEAVE_MCAST.
void give_back(int channel, uint32_t removal, uint32_t number) {
  rdma_ucm_destroy_id_resp ignored;
  rdma_ucm_destroy_id body = {};
  body.id = number;
  Command command = {{removal, sizeof body, sizeof ignored}, {}, sizeof body};
  std::memcpy(command.body, &body, sizeof body);
  execute(channel, command, {&ignored, sizeof ignored});
}

// CREATE_ID, JOIN_MCAST: what the program is not told of does not stay. 0 or an errno.
int create(const Channel& channel, const Command& command, uint32_t removal) {
  rdma_ucm_create_id_resp answer = {};
  const int error = execute(channel.descriptor, command, {&answer, sizeof answer});
  if (error != 0 || channel.memory.write(room_of(command).place, &answer, sizeof answer)) return error;
  give_back(channel.descriptor, removal, answer.id);
  return EFAULT;
}

// The length of the token that was taken, or -1.
ssize_t take_token(int channel, abi::EventToken& token, int flags) {
  token.magic = 0;
  return recv(channel, &token, sizeof token, flags);
}

// As long as a thread may wait without sleep.
bool soon_takes_token(int channel, abi::EventToken& token) {
  for (abi::ShortWait short_wait(crowd, abi::kShortWaitForEvent, abi::Beside::sleep); short_wait.yield();) {
    if (take_token(channel, token, MSG_DONTWAIT) > 0) return true;
  }
  return false;
}

// 0 or an errno. Here and in what it calls a thread may be cancelled, as in the write that it stands for.
//
// Linux's ucma wakes all who wait, the last to come first, and the first to look has the event. A thread that
// waits in recv is woken alone, the first to come first; one that waits in poll stands in the socket's queue
// just as ucma's do in theirs.
int await_token(int channel, abi::EventToken& token) {
  if ((fcntl(channel, F_GETFL) & O_NONBLOCK) != 0) return EAGAIN;
  if (soon_takes_token(channel, token)) return 0;
  for (;;) {
    pollfd entry = {channel, POLLIN, 0};
    if (poll(&entry, 1, -1) < 0) {
      if (errno != EINTR) return errno;
      if (!signals_restart_calls()) return EINTR;
      continue;
    }
    const ssize_t length = take_token(channel, token, MSG_DONTWAIT);
    if (length >= 0) return length == 0 ? EIO : 0;
    if (errno != EAGAIN) return errno;
  }
}

// Keeps a channel open that another thread of the program may close meanwhile, as the kernel's write does.
class KeptChannel {
 public:
  // Stays the channel's own descriptor where there is no further one.
  explicit KeptChannel(int channel) : channel_(channel) {
    const KeptErrno kept;
    copy_ = static_cast<int>(
        syscall(SYS_fcntl, channel, F_DUPFD_CLOEXEC, static_cast<long>(ReplySocket::kLowestDescriptor)));
    if (copy_ < 0) copy_ = static_cast<int>(syscall(SYS_fcntl, channel, F_DUPFD_CLOEXEC, 0L));
  }
  ~KeptChannel() { close_copy(this); }
  KeptChannel(const KeptChannel&) = delete;
  KeptChannel& operator=(const KeptChannel&) = delete;

  int descriptor() const { return copy_ >= 0 ? copy_ : channel_; }

  // As await_token. Without exceptions no destructor runs in a thread that is cancelled.
  int await_token(abi::EventToken& token) {
    int error = 0;
    pthread_cleanup_push(close_copy, this);
    error = kernel::await_token(descriptor(), token);
    pthread_cleanup_pop(0);
    return error;
  }

 private:
  static void close_copy(void* channel) {
    const KeptErrno kept;
    const int copy = static_cast<KeptChannel*>(channel)->copy_;
    if (copy >= 0) syscall(SYS_close, copy);
  }

  int channel_;
  int copy_;
};

// The device process is asked for the token's event. EAGAIN: it is gone. kEventIsTaken: it came with the
// token. What the program will ask of the event's identifier is kept.
int fetch_event(int channel, uint64_t cookie, const Command& command, uint32_t token) {
  alignas(8) unsigned char further[abi::kMaxFurtherAnswers];
  ReplySocket::Room room = room_of(command);
  if (room.size > sizeof(rdma_ucm_event_resp)) room.size = sizeof(rdma_ucm_event_resp);
  room.further = further;
  abi::RdmaCmReply reply;
  Extras extras = {};
  extras.token = token;
  const int error = execute(channel, command, extras, channel, room, reply);
  if (error == 0 && reply.length == room.size) keep_answers(cookie, further, reply.further_length);
  return error;
}

// The event that came with the token is the program's.
int deliver(const Channel& channel, const Command& command, const abi::EventToken& token) {
  static_assert(sizeof token.event == sizeof(rdma_ucm_event_resp));
  const size_t length = command.header.out < sizeof token.event ? command.header.out : sizeof token.event;
  if (!channel.memory.write(room_of(command).place, token.event, length)) return EFAULT;
  if (length == sizeof token.event && token.further_length <= sizeof token.further)
    keep_answers(channel.cookie, token.further, token.further_length);
  return 0;
}

// A token is taken. 0 or an errno; EAGAIN: its event is gone.
int take_event(const Channel& channel, int descriptor, const Command& command, const abi::EventToken& token) {
  if (token.magic != abi::kRdmaCmMagic) return fetch_event(descriptor, channel.cookie, command, 0);
  if (is_nothing_withdrawn(token.withdrawals)) return deliver(channel, command, token);
  const int error = fetch_event(descriptor, channel.cookie, command, token.number);
  return error == abi::kEventIsTaken ? deliver(channel, command, token) : error;
}

int await_event(const Channel& channel, const Command& command, abi::EventToken& token) {
  KeptChannel kept(channel.descriptor);
  int error = 0;
  do {
    error = kept.await_token(token);
    if (error != 0) return error;
    error = take_event(channel, kept.descriptor(), command, token);
  } while (error == EAGAIN);
  return error;
}

int get_event(const Channel& channel, const Command& command) {
  constexpr size_t kShortest = offsetof(rdma_ucm_event_resp, reserved);  // as rdma-core before ECE had it
  if (command.header.out < kShortest) return ENOSPC;
  if (command.body_length < sizeof(rdma_ucm_get_event)) return EINVAL;
  abi::EventToken token;
  if (take_token(channel.descriptor, token, MSG_DONTWAIT) > 0) {
    const int error = take_event(channel, channel.descriptor, command, token);
    if (error != EAGAIN) return error;
  }
  return await_event(channel, command, token);
}

// QUERY and INIT_QP_ATTR, which begin alike: with the pointer, the identifier, and what is asked of it.
int ask(const Channel& channel, const Command& command) {
  static_assert(offsetof(rdma_ucm_query, id) == offsetof(rdma_ucm_init_qp_attr, id) &&
                offsetof(rdma_ucm_query, option) == offsetof(rdma_ucm_init_qp_attr, qp_state) &&
                sizeof(rdma_ucm_query) == sizeof(rdma_ucm_init_qp_attr));
  const auto selector = field<uint32_t>(command, offsetof(rdma_ucm_query, option));
  KeptAnswer kept;
  const bool is_kept =
      command.body_length >= sizeof(rdma_ucm_query) && selector <= UINT16_MAX &&
      find_kept_answer({channel.cookie, field<uint32_t>(command, offsetof(rdma_ucm_query, id)),
                        static_cast<uint16_t>(command.header.cmd), static_cast<uint16_t>(selector)},
                       kept);
  if (!is_kept || kept.length > command.header.out) return execute(channel.descriptor, command);
  return channel.memory.write(room_of(command).place, kept.bytes, kept.length) ? 0 : EFAULT;
}

// The active side's, which has no parameters, needs no answer if the device has said so.
int accept(const Channel& channel, const Command& command) {
  constexpr size_t kValid = offsetof(rdma_ucm_accept, conn_param) + offsetof(rdma_ucm_conn_param, valid);
  const bool is_active_sides =
      command.body_length >= offsetof(rdma_ucm_accept, ece) && field<uint8_t>(command, kValid) == 0;
  const auto id = field<uint32_t>(command, offsetof(rdma_ucm_accept, id));
  if (!is_active_sides || !take_consent({channel.cookie, id, RDMA_USER_CM_CMD_ACCEPT, 0}))
    return execute(channel.descriptor, command);
  return send_request(channel.descriptor, abi::RdmaCmRequestKind::command, {}, command, {}) ? 0 : EIO;
}

int set_option(const Channel& channel, const Command& command) {
  Extras extras = {};
  const auto length = field<uint32_t>(command, offsetof(rdma_ucm_set_option, optlen));
  if (length > sizeof extras.option) return EINVAL;
  const auto* value =
      reinterpret_cast<const void*>(field<uint64_t>(command, offsetof(rdma_ucm_set_option, optval)));
  if (channel.memory.read(extras.option, value, length) < length) return EFAULT;
  extras.option_length = length;
  abi::RdmaCmReply reply;
  return execute(channel.descriptor, command, extras, channel.descriptor, {}, reply);
}

// The identifier comes from the channel of the command's descriptor, which is the caller's.
int migrate_id(int channel, const Command& command) {
  Extras extras = {};
  const auto old_channel = field<int>(command, offsetof(rdma_ucm_migrate_id, fd));
  RdmaCmChannel ignored;
  if (!identify_rdma_cm(old_channel, ignored)) return fcntl(old_channel, F_GETFD) >= 0 ? EINVAL : ENOENT;
  {
    ReplySocket replies(getpid());
    abi::RdmaCmReply reply;
    if (!replies.is_open() ||
        !send_request(old_channel, abi::RdmaCmRequestKind::name_channel, replies.name(), command, extras) ||
        !replies.receive({&extras.channel, sizeof extras.channel}, reply))
      return EIO;
    if (reply.error != 0) return reply.error;
  }
  abi::RdmaCmReply reply;
  return execute(channel, command, extras, old_channel, room_of(command), reply);
}

int serve(const Channel& channel, const Command& command) {
  switch (command.header.cmd) {
    case RDMA_USER_CM_CMD_CREATE_ID:
      return create(channel, command, RDMA_USER_CM_CMD_DESTROY_ID);
    case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
    case RDMA_USER_CM_CMD_JOIN_MCAST:
      return create(channel, command, RDMA_USER_CM_CMD_LEAVE_MCAST);
    case RDMA_USER_CM_CMD_GET_EVENT:
      return get_event(channel, command);
    case RDMA_USER_CM_CMD_QUERY:
    case RDMA_USER_CM_CMD_INIT_QP_ATTR:
      return ask(channel, command);
    case RDMA_USER_CM_CMD_ACCEPT:
      return accept(channel, command);
    case RDMA_USER_CM_CMD_SET_OPTION:
      return set_option(channel, command);
    case RDMA_USER_CM_CMD_MIGRATE_ID:
      return migrate_id(channel.descriptor, command);
    default:
      return execute(channel.descriptor, command);
  }
}

}  // namespace

ssize_t write_to_rdma_cm(int descriptor, const RdmaCmChannel& channel, const void* data, size_t size) {
  Command command;
  // Linux refuses a process that has changed its credentials since it opened the node (ib_safe_file_access).
  const ProgramMemory memory(__builtin_frame_address(0));
  int error = channel.opener != geteuid() ? EACCES : read_command(memory, data, size, command);
  if (error == 0) {
    const KeptErrno kept;
    error = serve({descriptor, channel.cookie, memory}, command);
  }
  if (error == 0) return static_cast<ssize_t>(size);
  errno = error;
  return -1;
}

}  // namespace urnic::kernel
