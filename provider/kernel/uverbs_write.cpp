#include "provider/kernel/uverbs_write.hpp"

#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/control.hpp"
#include "provider/kernel/real.hpp"

namespace urnic::kernel {

namespace {

struct CreateCompletionChannel {
  ib_uverbs_cmd_hdr header;
  ib_uverbs_create_comp_channel command;
};
static_assert(sizeof(CreateCompletionChannel) == 16);

struct AddCompletionChannelMessage {
  abi::RequestHeader header;
  abi::AddCompletionChannelRequest body;
};

struct Pipe {
  int read_end;
  int write_end;
};

// Sends the device process both ends of the pipe. It writes events, and reads back those of destroyed CQs.
bool announce_channel(int device, const Pipe& pipe) {
  AddCompletionChannelMessage message = {};
  message.header.magic = abi::kControlMagic;
  message.header.opcode = static_cast<std::uint32_t>(abi::ControlOpcode::add_completion_channel);
  message.header.length = sizeof message;
  iovec data = {&message, sizeof message};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof pipe)] = {};
  msghdr packet = {};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control;
  packet.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&packet);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof pipe);
  std::memcpy(CMSG_DATA(rights), &pipe, sizeof pipe);
  ssize_t sent = 0;
  do {
    sent = sendmsg(device, &packet, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof message);
}

ssize_t create_completion_channel(int device, const CreateCompletionChannel& request) {
  Pipe pipe = {};
  if (pipe2(&pipe.read_end, O_CLOEXEC) != 0) return -1;
  const bool announced = announce_channel(device, pipe);
  close(pipe.write_end);
  if (!announced) {
    close(pipe.read_end);
    errno = EIO;  // what ib_uverbs answers once the device is gone
    return -1;
  }
  ib_uverbs_create_comp_channel_resp response = {};
  response.fd = static_cast<__u32>(pipe.read_end);
  std::memcpy(reinterpret_cast<void*>(request.command.response), &response, sizeof response);
  return sizeof request;
}

bool is_control_message(const void* data, size_t size) {
  std::uint32_t magic = 0;
  if (size < sizeof magic) return false;
  std::memcpy(&magic, data, sizeof magic);
  return magic == abi::kControlMagic;
}

}  // namespace

ssize_t write_to_uverbs(int device, const void* data, size_t size) {
  if (is_control_message(data, size)) return real::write(device, data, size);
  CreateCompletionChannel request;
  if (size < sizeof request.header) {
    errno = EINVAL;
    return -1;
  }
  std::memcpy(&request, data, size < sizeof request ? size : sizeof request);
  if (request.header.command != IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL) {
    errno = EOPNOTSUPP;
    return -1;
  }
  // The same checks as in the kernel's ib_uverbs_write; header lengths count words of 4 bytes.
  if (size != sizeof request || request.header.in_words * 4U != size ||
      request.header.out_words * 4U < sizeof(ib_uverbs_create_comp_channel_resp)) {
    errno = EINVAL;
    return -1;
  }
  return create_completion_channel(device, request);
}

}  // namespace urnic::kernel
