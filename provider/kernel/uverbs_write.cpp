#include "provider/kernel/uverbs_write.hpp"

#include <errno.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <cstring>

#include "device_model/abi/control.hpp"
#include "provider/kernel/completion_channel.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/uverbs_command.hpp"

namespace urnic::kernel {

namespace {

// Parts of one piece of the program's memory.
ProgramPart part_of(const void* place, size_t from, size_t length) {
  return {static_cast<const unsigned char*>(place) + from, length};
}

const void* pointer_to(uint64_t address) { return reinterpret_cast<const void*>(address); }

bool is_control_message(const ProgramMemory& memory, const void* data, size_t size) {
  uint32_t magic = 0;
  return size >= sizeof magic && memory.read(&magic, data, sizeof magic) == sizeof magic &&
         magic == abi::kControlMagic;
}

// A command of the old form: header, structure, the driver's part. The structure begins with the place of the
// answer, if there is one. Lengths count words of 4 bytes, and that of the command the header, too. Checks
// and answers as in the kernel's ib_uverbs_write.
int run_plain(int device, const ProgramMemory& memory, const ib_uverbs_cmd_hdr& header, const void* data,
              size_t size) {
  if (header.in_words * 4U != size) return EINVAL;
  UverbsCommand command = {};
  command.number = header.command;
  command.core = part_of(data, sizeof header, size - sizeof header);
  uint64_t response = 0;
  if (header.out_words != 0) {
    if (command.core.length < sizeof response) return ENOSPC;
    if (memory.read(&response, command.core.place, sizeof response) < sizeof response) return EFAULT;
    command.core_answer = {pointer_to(response), header.out_words * 4U};
  }
  return run_uverbs_command(device, memory, command);
}

struct ExtendedHeader {
  ib_uverbs_cmd_hdr command;
  ib_uverbs_ex_cmd_hdr extension;
};
static_assert(sizeof(ExtendedHeader) == 24);

// A command of the extended form: its lengths count words of 8 bytes, without the headers.
int run_extended(int device, const ProgramMemory& memory, const void* data, size_t size) {
  ExtendedHeader header;
  if (size < sizeof header) return EINVAL;
  if (memory.read(&header, data, sizeof header) < sizeof header) return EFAULT;
  const size_t core = header.command.in_words * 8U;
  const size_t driver = header.extension.provider_in_words * 8U;
  const size_t core_answer = header.command.out_words * 8U;
  const size_t driver_answer = header.extension.provider_out_words * 8U;
  if (core + driver != size - sizeof header || header.extension.cmd_hdr_reserved != 0) return EINVAL;
  if ((header.extension.response != 0) != (core_answer + driver_answer != 0)) return EINVAL;
  const void* const answer = pointer_to(header.extension.response);
  UverbsCommand command = {};
  command.number = header.command.command;
  command.is_apart = true;
  command.core = part_of(data, sizeof header, core);
  command.driver = part_of(data, sizeof header + core, driver);
  command.core_answer = part_of(answer, 0, core_answer);
  command.driver_answer = part_of(answer, core_answer, driver_answer);
  return run_uverbs_command(device, memory, command);
}

// 0 or an errno. What the answer says is the stand-in's, so it makes it itself.
int create_completion_channel(int device, const ProgramMemory& memory, const ib_uverbs_cmd_hdr& header,
                              const void* data, size_t size) {
  ib_uverbs_create_comp_channel command;
  ib_uverbs_create_comp_channel_resp response = {};
  if (size != sizeof header + sizeof command || header.in_words * 4U != size ||
      header.out_words * 4U < sizeof response)
    return EINVAL;
  const ProgramPart body = part_of(data, sizeof header, sizeof command);
  if (memory.read(&command, body.place, sizeof command) < sizeof command) return EFAULT;
  const int channel = make_completion_channel(device);
  if (channel < 0) return errno;
  response.fd = static_cast<__u32>(channel);
  if (memory.write(const_cast<void*>(pointer_to(command.response)), &response, sizeof response)) return 0;
  close(channel);
  return EFAULT;
}

int run_command(int device, const ProgramMemory& memory, const void* data, size_t size) {
  ib_uverbs_cmd_hdr header;
  if (size < sizeof header) return EINVAL;
  if (memory.read(&header, data, sizeof header) < sizeof header) return EFAULT;
  if (header.command == IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
    return create_completion_channel(device, memory, header, data, size);
  if ((header.command & IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0)
    return run_extended(device, memory, data, size);
  return run_plain(device, memory, header, data, size);
}

}  // namespace

ssize_t write_to_uverbs(int device, const void* data, size_t size) {
  const ProgramMemory memory(__builtin_frame_address(0));
  if (is_control_message(memory, data, size)) return real::write(device, data, size);
  const int error = run_command(device, memory, data, size);
  if (error == 0) return static_cast<ssize_t>(size);
  errno = error;
  return -1;
}

}  // namespace urnic::kernel
