#include "provider/kernel/completion_channel.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/control.hpp"
#include "provider/kernel/uverbs_connection.hpp"

namespace urnic::kernel {

namespace {

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

}  // namespace

int make_completion_channel(int device) {
  Pipe pipe = {};
  if (pipe2(&pipe.read_end, O_CLOEXEC) != 0) return -1;
  const bool announced = announce_channel(socket_of(device), pipe);
  close(pipe.write_end);
  if (announced) return pipe.read_end;
  close(pipe.read_end);
  errno = EIO;  // what ib_uverbs answers once the device is gone
  return -1;
}

}  // namespace urnic::kernel
