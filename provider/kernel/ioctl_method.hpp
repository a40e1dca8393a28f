// A request of ioctl(2) on a device node, copied from the program's memory.
#pragma once

#include <rdma/rdma_user_ioctl_cmds.h>
#include <stddef.h>

#include "provider/kernel/uverbs_command.hpp"

namespace urnic::kernel {

// REG_DMABUF_MR has nine.
inline constexpr size_t kMostAttributes = 16;
// Shorter data are in the attribute itself (drivers/infiniband/core/uverbs_ioctl.c).
inline constexpr size_t kMostInline = sizeof(ib_uverbs_attr::data);

struct IoctlMethod {
  ib_uverbs_attr attributes[kMostAttributes];
  ib_uverbs_attr* own_attributes;  // the program's
  ib_uverbs_ioctl_hdr header;      // ends with an array of no length, and so comes last
};

// Data that the program sends.
inline ProgramPart input_of(const ib_uverbs_attr& attribute) {
  if (attribute.len <= kMostInline) return {&attribute.data, attribute.len};
  return {reinterpret_cast<const void*>(attribute.data), attribute.len};
}

// Where the program wants an answer.
inline ProgramPart output_of(const ib_uverbs_attr& attribute) {
  return {reinterpret_cast<const void*>(attribute.data), attribute.len};
}

}  // namespace urnic::kernel
