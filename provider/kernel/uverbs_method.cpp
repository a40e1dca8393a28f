#include "provider/kernel/uverbs_method.hpp"

#include <errno.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cstring>

#include "provider/kernel/completion_channel.hpp"
#include "provider/kernel/uverbs_command.hpp"

namespace urnic::kernel {

namespace {

// Of INVOKE_WRITE there are five.
constexpr size_t kMostAttributes = 8;
// Shorter data are in the attribute itself (drivers/infiniband/core/uverbs_ioctl.c).
constexpr size_t kMostInline = sizeof(ib_uverbs_attr::data);

struct Method {
  ib_uverbs_attr attributes[kMostAttributes];
  ib_uverbs_attr* own_attributes;  // the program's
  ib_uverbs_ioctl_hdr header;      // ends with an array of no length, and so comes last
};

int read_method(const ProgramMemory& memory, void* argument, Method& method) {
  if (memory.read(&method.header, argument, sizeof method.header) < sizeof method.header) return EFAULT;
  const ib_uverbs_ioctl_hdr& header = method.header;
  const size_t bytes = header.num_attrs * sizeof(ib_uverbs_attr);
  if (header.length != sizeof header + bytes || header.reserved1 != 0 || header.reserved2 != 0) return EINVAL;
  if (header.object_id != UVERBS_OBJECT_DEVICE || header.method_id != UVERBS_METHOD_INVOKE_WRITE ||
      header.num_attrs > kMostAttributes)
    return EPROTONOSUPPORT;
  method.own_attributes =
      reinterpret_cast<ib_uverbs_attr*>(static_cast<unsigned char*>(argument) + sizeof header);
  return memory.read(method.attributes, method.own_attributes, bytes) < bytes ? EFAULT : 0;
}

// Data that the program sends.
ProgramPart input_of(const ib_uverbs_attr& attribute) {
  if (attribute.len <= kMostInline) return {&attribute.data, attribute.len};
  return {reinterpret_cast<const void*>(attribute.data), attribute.len};
}

// Where the program wants an answer.
ProgramPart output_of(const ib_uverbs_attr& attribute) {
  return {reinterpret_cast<const void*>(attribute.data), attribute.len};
}

// 0; EINVAL: the command's number is missing, or an attribute comes twice; EPROTONOSUPPORT: one that is not
// known must be heeded.
int to_command(const Method& method, UverbsCommand& command) {
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
bool mark_outputs(const ProgramMemory& memory, Method& method) {
  for (size_t i = 0; i < method.header.num_attrs; ++i) {
    ib_uverbs_attr& attribute = method.attributes[i];
    if (attribute.attr_id != UVERBS_ATTR_CORE_OUT && attribute.attr_id != UVERBS_ATTR_UHW_OUT) continue;
    attribute.flags |= UVERBS_ATTR_F_VALID_OUTPUT;
    if (!memory.write(&method.own_attributes[i].flags, &attribute.flags, sizeof attribute.flags))
      return false;
  }
  return true;
}

int run(int device, const ProgramMemory& memory, void* argument) {
  Method method;
  if (const int error = read_method(memory, argument, method)) return error;
  UverbsCommand command = {};
  if (const int error = to_command(method, command)) return error;
  const int error = command.number == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL
                        ? make_channel(device, memory, command)
                        : run_uverbs_command(device, memory, command);
  if (error != 0) return error;
  return mark_outputs(memory, method) ? 0 : EFAULT;
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
