#include "provider/kernel/uverbs_method.hpp"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/memory_messages.hpp"
#include "provider/freestanding/prefetch.hpp"
#include "provider/kept_errno.hpp"
#include "provider/kernel/completion_channel.hpp"
#include "provider/kernel/ioctl_method.hpp"
#include "provider/kernel/method_passage.hpp"
#include "provider/kernel/object_creation.hpp"
#include "provider/kernel/uverbs_command.hpp"
#include "provider/kernel/uverbs_connection.hpp"

namespace urnic::kernel {

namespace {

bool is_command(const ib_uverbs_ioctl_hdr& header) {
  return header.object_id == UVERBS_OBJECT_DEVICE && header.method_id == UVERBS_METHOD_INVOKE_WRITE;
}

bool is_advice(const ib_uverbs_ioctl_hdr& header) {
  return header.object_id == UVERBS_OBJECT_MR && header.method_id == UVERBS_METHOD_ADVISE_MR;
}

// ibv_import_device(3)
bool is_import_of_events(const ib_uverbs_ioctl_hdr& header) {
  return header.object_id == UVERBS_OBJECT_ASYNC_EVENT && header.method_id == UVERBS_METHOD_ASYNC_EVENT_ALLOC;
}

int read_method(const ProgramMemory& memory, void* argument, IoctlMethod& method) {
  if (memory.read(&method.header, argument, sizeof method.header) < sizeof method.header) return EFAULT;
  const ib_uverbs_ioctl_hdr& header = method.header;
  const size_t bytes = header.num_attrs * sizeof(ib_uverbs_attr);
  if (header.length != sizeof header + bytes || header.reserved1 != 0 || header.reserved2 != 0) return EINVAL;
  const bool is_known = is_command(header) || is_advice(header) || is_import_of_events(header) ||
                        is_creation(header) || find_method(header.object_id, header.method_id) != nullptr;
  if (!is_known || header.num_attrs > kMostAttributes) return EPROTONOSUPPORT;
  method.own_attributes =
      reinterpret_cast<ib_uverbs_attr*>(static_cast<unsigned char*>(argument) + sizeof header);
  return memory.read(method.attributes, method.own_attributes, bytes) < bytes ? EFAULT : 0;
}

// 0; EINVAL: the command's number is missing, or an attribute comes twice; EPROTONOSUPPORT: one that is not
// known must be heeded.
int to_command(const IoctlMethod& method, UverbsCommand& command) {
  bool has_number = false;
  command.is_apart = true;
  for (size_t i = 0; i < method.header.num_attrs; ++i) {
    const ib_uverbs_attr& attribute = method.attributes[i];
    switch (attribute.attr_id) {
      case UVERBS_ATTR_WRITE_CMD:
        if (has_number || attribute.data > UINT32_MAX) return EINVAL;
        command.number = static_cast<uint32_t>(attribute.data);
        has_number = true;
        break;
      case UVERBS_ATTR_CORE_IN:
        command.core = input_of(attribute);
        break;
      case UVERBS_ATTR_CORE_OUT:
        command.core_answer = output_of(attribute);
        break;
      case UVERBS_ATTR_UHW_IN:
        command.driver = input_of(attribute);
        break;
      case UVERBS_ATTR_UHW_OUT:
        command.driver_answer = output_of(attribute);
        break;
      default:
        if ((attribute.flags & UVERBS_ATTR_F_MANDATORY) != 0) return EPROTONOSUPPORT;
    }
  }
  return has_number ? 0 : EINVAL;
}

int make_channel(int device, const ProgramMemory& memory, const UverbsCommand& command) {
  ib_uverbs_create_comp_channel_resp response = {};
  if (command.core_answer.length < sizeof response) return ENOSPC;
  const int channel = make_completion_channel(device);
  if (channel < 0) return errno;
  response.fd = static_cast<__u32>(channel);
  if (memory.write(const_cast<void*>(command.core_answer.place), &response, sizeof response)) return 0;
  close(channel);
  return EFAULT;
}

// Tells the program that its places for answers have been used.
bool mark_outputs(const ProgramMemory& memory, IoctlMethod& method) {
  for (size_t i = 0; i < method.header.num_attrs; ++i) {
    ib_uverbs_attr& attribute = method.attributes[i];
    if (attribute.attr_id != UVERBS_ATTR_CORE_OUT && attribute.attr_id != UVERBS_ATTR_UHW_OUT) continue;
    attribute.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    if (!memory.write(&method.own_attributes[i].flags, &attribute.flags, sizeof attribute.flags))
      return false;
  }
  return true;
}

int run_invocation(int device, const ProgramMemory& memory, IoctlMethod& method) {
  UverbsCommand command = {};
  if (const int error = to_command(method, command)) return error;
  const int error = command.number == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL
                        ? make_channel(device, memory, command)
                        : run_uverbs_command(device, memory, command);
  if (error != 0) return error;
  return mark_outputs(memory, method) ? 0 : EFAULT;
}

// ibv_advise_mr(3).
struct Advice {
  uint32_t pd = 0;
  uint32_t advice = 0;
  uint32_t flags = 0;
  ProgramPart ranges;  // ib_uverbs_sge each
};

int to_advice(const IoctlMethod& method, Advice& advice) {
  for (size_t i = 0; i < method.header.num_attrs; ++i) {
    const ib_uverbs_attr& attribute = method.attributes[i];
    const auto number = static_cast<uint32_t>(attribute.data);
    switch (attribute.attr_id) {
      case UVERBS_ATTR_ADVISE_MR_PD_HANDLE:
        advice.pd = number;
        break;
      case UVERBS_ATTR_ADVISE_MR_ADVICE:
        advice.advice = number;
        break;
      case UVERBS_ATTR_ADVISE_MR_FLAGS:
        advice.flags = number;
        break;
      case UVERBS_ATTR_ADVISE_MR_SGE_LIST:
        advice.ranges = output_of(attribute);  // never in the attribute itself: a range has 16 bytes
        break;
      default:
        if ((attribute.flags & UVERBS_ATTR_F_MANDATORY) != 0) return EPROTONOSUPPORT;
    }
  }
  const bool is_right = (advice.flags & ~static_cast<uint32_t>(IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) == 0 &&
                        advice.ranges.length != 0 && advice.ranges.length % sizeof(ib_uverbs_sge) == 0;
  return is_right ? 0 : EINVAL;
}

// Where the range lies, the device process knows. This process cannot bring in another process's pages.
int advise_range(int device, const Advice& advice, const ib_uverbs_sge& range) {
  abi::AdviseMrRequest request = {};
  request.address = range.addr;
  request.length = range.length;
  request.pd = advice.pd;
  request.lkey = range.lkey;
  request.advice = advice.advice;
  const iovec part = {&request, sizeof request};
  UverbsReply reply;
  {
    UverbsTurn turn(device, false);
    if (turn.error() != 0) return turn.error();
    if (const int error = turn.ask({abi::ControlOpcode::advise_mr, &part, 1}, reply)) return error;
  }
  abi::AdviseMrReply place;
  if (reply.length != sizeof place) return EIO;
  std::memcpy(&place, reply.body, sizeof place);
  if (place.is_senders == 0) return 0;
  const KeptErrno kept;
  const bool waits = (advice.flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH) != 0;
  return provider::Prefetch(place.address, range.length).run(advice.advice, waits);
}

int run_advice(int device, const ProgramMemory& memory, const IoctlMethod& method) {
  Advice advice;
  if (const int error = to_advice(method, advice)) return error;
  const auto* const ranges = static_cast<const ib_uverbs_sge*>(advice.ranges.place);
  for (size_t i = 0; i < advice.ranges.length / sizeof(ib_uverbs_sge); ++i) {
    ib_uverbs_sge range;
    if (memory.read(&range, ranges + i, sizeof range) < sizeof range) return EFAULT;
    if (const int error = advise_range(device, advice, range)) return error;
  }
  return 0;
}

// The descriptor on which all who have the context read its events.
int import_events(int device, const ProgramMemory& memory, const IoctlMethod& method) {
  if (method.header.num_attrs != 1 || method.attributes[0].attr_id != UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)
    return EINVAL;
  UverbsReply reply;
  {
    UverbsTurn turn(device, false);
    if (turn.error() != 0) return turn.error();
    if (const int error = turn.ask({abi::ControlOpcode::async_channel, nullptr, 0}, reply)) return error;
  }
  if (!reply.descriptors[0].valid()) return EIO;
  const int64_t descriptor = reply.descriptors[0].get();
  if (!memory.write(&method.own_attributes[0].data_s64, &descriptor, sizeof descriptor)) return EFAULT;
  reply.descriptors[0].release();
  return 0;
}

int run(int device, const ProgramMemory& memory, void* argument) {
  IoctlMethod method;
  if (const int error = read_method(memory, argument, method)) return error;
  if (is_advice(method.header)) return run_advice(device, memory, method);
  if (is_import_of_events(method.header)) return import_events(device, memory, method);
  if (is_creation(method.header)) return create_object(device, memory, method);
  if (is_command(method.header)) return run_invocation(device, memory, method);
  return pass_method(device, memory, method, *find_method(method.header.object_id, method.header.method_id));
}

}  // namespace

bool is_for_mlx5(const ProgramMemory& memory, const void* argument) {
  ib_uverbs_ioctl_hdr header;
  return memory.read(&header, argument, sizeof header) == sizeof header &&
         header.driver_id == RDMA_DRIVER_MLX5;
}

int run_uverbs_method(int device, const ProgramMemory& memory, void* argument) {
  const int error = run(device, memory, argument);
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace urnic::kernel
