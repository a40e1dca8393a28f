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

// Two functions of the name mmap. Libraries that watch memory (UCX, Open MPI) look the name up and write a
// jump to their own function over the beginning of what they find. That is the second, which has room for a
// jump. Calls in programs and libraries name the version of the C library (URNIC_CALLED_VERSION): they reach
// the first, which stays as it is, and passes on to the second what is not for a device node.
void* called_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                  off_t offset) __asm__("urnic_called_mmap");
void* exported_called_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                           off_t offset) URNIC_ENTRY_ALIAS("urnic_exported_called_mmap", "urnic_called_mmap");
void* exported_called_mmap64(void* address, size_t length, int protection, int flags, int descriptor,
                             off_t offset)
    URNIC_ENTRY_ALIAS("urnic_exported_called_mmap64", "urnic_called_mmap");
void* found_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                 off_t offset) __asm__("urnic_found_mmap")
    __attribute__((noinline, patchable_function_entry(32)));
void* exported_found_mmap(void* address, size_t length, int protection, int flags, int descriptor,
                          off_t offset) URNIC_ENTRY_ALIAS("urnic_exported_found_mmap", "urnic_found_mmap");
void* exported_found_mmap64(void* address, size_t length, int protection, int flags, int descriptor,
                            off_t offset)
    URNIC_ENTRY_ALIAS("urnic_exported_found_mmap64", "urnic_found_mmap");

#if defined(__x86_64__)
#define URNIC_CALLED_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define URNIC_CALLED_VERSION "GLIBC_2.17"
#endif
#if defined(URNIC_CALLED_VERSION)
__asm__(".symver urnic_exported_called_mmap, mmap@" URNIC_CALLED_VERSION ", remove");
__asm__(".symver urnic_exported_called_mmap64, mmap64@" URNIC_CALLED_VERSION ", remove");
__asm__(".symver urnic_exported_found_mmap, mmap@@URNIC, remove");
__asm__(".symver urnic_exported_found_mmap64, mmap64@@URNIC, remove");
#endif

void* called_mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  if (is_node(descriptor)) return map_uverbs(descriptor, address, length, protection, flags, offset);
  return found_mmap(address, length, protection, flags, descriptor, offset);
}

void* found_mmap(void* address, size_t length, int protection, int flags, int descriptor, off_t offset) {
  return real::mmap(address, length, protection, flags, descriptor, offset);
}

}  // extern "C"

}  // namespace urnic::kernel
