// read: packets of management datagrams on umad nodes. All other descriptors are read as they are.
#include <sys/types.h>

#include "provider/kernel/descriptor_table.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/umad_node.hpp"

namespace urnic::kernel {

namespace {

ssize_t read_closely(int descriptor, void* data, size_t size) {
  return is_open_umad(descriptor) ? read_from_umad(descriptor, data, size)
                                  : real::read(descriptor, data, size);
}

}  // namespace

extern "C" {

ssize_t entry_read(int descriptor, void* data, size_t size) URNIC_ENTRY_POINT("read");
ssize_t entry_read(int descriptor, void* data, size_t size) {
  if (__builtin_expect(may_be_device(descriptor), 0)) return read_closely(descriptor, data, size);
  return real::read(descriptor, data, size);
}

}  // extern "C"

}  // namespace urnic::kernel
