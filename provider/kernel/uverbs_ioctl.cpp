// ioctl on an open device node. For urnic's own provider it serves the one method that libibverbs passes to
// no provider, which allocates the descriptor of an imported device's asynchronous events. For libmlx5:
// uverbs_method.hpp.
#include <errno.h>
#include <linux/sockios.h>
#include <poll.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <stdarg.h>
#include <sys/socket.h>

#include <cstring>

#include "device_model/abi/control.hpp"
#include "provider/freestanding/socket_retry.hpp"
#include "provider/kernel/descriptor_table.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/interface_statistics.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/umad_node.hpp"
#include "provider/kernel/uverbs_method.hpp"

namespace urnic::kernel {

namespace {

struct AsyncChannelReply {
  abi::ReplyHeader header;
  abi::Empty body;
};

bool asks_for_async_events(const ib_uverbs_ioctl_hdr& header) {
  return header.object_id == UVERBS_OBJECT_ASYNC_EVENT &&
         header.method_id == UVERBS_METHOD_ASYNC_EVENT_ALLOC && header.num_attrs == 1 &&
         header.length == sizeof header + sizeof(ib_uverbs_attr) &&
         header.attrs[0].attr_id == UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE;
}

bool send_request(int device) {
  abi::RequestHeader request = {};
  request.magic = abi::kControlMagic;
  request.opcode = static_cast<std::uint32_t>(abi::ControlOpcode::async_channel);
  request.length = sizeof request;
  ssize_t sent = 0;
  do {
    sent = send(device, &request, sizeof request, MSG_NOSIGNAL);
  } while (sent < 0 && provider::should_retry(device, POLLOUT));
  return sent == static_cast<ssize_t>(sizeof request);
}

// The descriptor that came with the reply; -1 and errno if there is none.
int receive_descriptor(int device) {
  AsyncChannelReply reply = {};
  iovec data = {&reply, sizeof reply};
  int descriptor = -1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof descriptor)] = {};
  msghdr packet = {};
  packet.msg_iov = &data;
  packet.msg_iovlen = 1;
  packet.msg_control = control;
  packet.msg_controllen = sizeof control;
  ssize_t length = 0;
  do {
    length = real::recvmsg(device, &packet, MSG_CMSG_CLOEXEC);
  } while (length < 0 && provider::should_retry(device, POLLIN));
  if (length < static_cast<ssize_t>(sizeof reply.header)) {
    errno = EIO;  // what ib_uverbs answers once the device is gone
    return -1;
  }
  const cmsghdr* rights = CMSG_FIRSTHDR(&packet);
  if (reply.header.error != 0 || rights == nullptr || rights->cmsg_type != SCM_RIGHTS) {
    errno = reply.header.error > 0 ? reply.header.error : EIO;
    return -1;
  }
  std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
  return descriptor;
}

// No other thread makes a request on this connection meanwhile: libibverbs calls this before it returns the
// context to the program.
int allocate_async_events(int device, ib_uverbs_attr& attribute) {
  if (!send_request(device)) {
    errno = EIO;
    return -1;
  }
  const int descriptor = receive_descriptor(device);
  if (descriptor < 0) return -1;
  attribute.data_s64 = descriptor;
  attribute.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
  return 0;
}

int ioctl_closely(int descriptor, unsigned long request, void* argument) {
  dev_t number = 0;
  if (is_umad_request(request) && identify_descriptor(descriptor, number) && is_umad_number(number))
    return ioctl_on_umad(descriptor, request, argument);
  const ProgramMemory memory(__builtin_frame_address(0));
  if (request == RDMA_VERBS_IOCTL && is_for_mlx5(memory, argument) && identify_descriptor(descriptor, number))
    return run_uverbs_method(descriptor, memory, argument);
  auto* header = static_cast<ib_uverbs_ioctl_hdr*>(argument);
  if (request != RDMA_VERBS_IOCTL || header == nullptr || !asks_for_async_events(*header) ||
      !identify_descriptor(descriptor, number)) {
    return real::ioctl(descriptor, request, argument);
  }
  return allocate_async_events(descriptor, header->attrs[0]);
}

}  // namespace

extern "C" {

int entry_ioctl(int descriptor, unsigned long request, ...) URNIC_ENTRY_POINT("ioctl");
int entry_ioctl(int descriptor, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  if (__builtin_expect(may_be_device(descriptor), 0)) return ioctl_closely(descriptor, request, argument);
  if (__builtin_expect(request == SIOCETHTOOL, 0)) return ioctl_on_interface(descriptor, argument);
  return real::ioctl(descriptor, request, argument);
}

}  // extern "C"

}  // namespace urnic::kernel
