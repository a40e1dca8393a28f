// mmap of a device node. Memory allocators call mmap before this library's constructors have run, and with
// locks held: without a descriptor nothing else happens here.
#include <sys/types.h>

#include "provider/kernel/descriptor_table.hpp"
#include "provider/kernel/device_node.hpp"
#include "provider/kernel/entry_point.hpp"
#include "provider/kernel/real.hpp"
#include "provider/kernel/uverbs_map.hpp"

namespace urnic::kernel {

namespace {

bool is_node(int descriptor) {
  dev_t number = 0;
  return descriptor >= 0 && __builtin_expect(may_be_device(descriptor), 0) &&
         identify_descriptor(descriptor, number);
}

}  // namespace

extern "C" {

void* entry_mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset)
    URNIC_ENTRY_POINT("mmap");
void* entry_mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  if (is_node(descriptor)) return map_uverbs(descriptor, address, length, protection, flags, offset);
  return real::mmap(address, length, protection, flags, descriptor, offset);
}
void* entry_mmap64(void* address, size_t length, int protection, int flags, int descriptor, off_t offset)
    URNIC_ENTRY_ALIAS("mmap64", "mmap");

}  // extern "C"

}  // namespace urnic::kernel
