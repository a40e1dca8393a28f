// write: the commands of programs to open device nodes.
#include <sys/types.h>

#include "provider/kernel/descriptor_table.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/rdma_cm_write.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/umad_node.hpp"
#include "provider/kernel/uverbs_write.hpp"

namespace urnic::kernel {

namespace {

ssize_t write_closely(int descriptor, const void* data, size_t size) {
  RdmaCmChannel channel;
  if (identify_rdma_cm(descriptor, channel)) return write_to_rdma_cm(descriptor, channel, data, size);
  dev_t number = 0;
  if (identify_descriptor(descriptor, number)) {
    return is_umad_number(number) ? write_to_umad(descriptor, data, size)
                                  : write_to_uverbs(descriptor, data, size);
  }
  remove_device(descriptor);
  return real::write(descriptor, data, size);
}

}  // namespace

extern "C" {

ssize_t entry_write(int descriptor, const void* data, size_t size) URNIC_ENTRY_POINT("write");
ssize_t entry_write(int descriptor, const void* data, size_t size) {
  if (__builtin_expect(may_be_device(descriptor), 0)) return write_closely(descriptor, data, size);
  return real::write(descriptor, data, size);
}

}  // extern "C"

}  // namespace urnic::kernel
