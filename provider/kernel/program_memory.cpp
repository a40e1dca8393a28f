#include "provider/kernel/program_memory.hpp"

#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstring>

#include "provider/kept_errno.hpp"

namespace urnic::kernel {

namespace {

// No machine has smaller pages.
constexpr uintptr_t kPage = 4096;
// The kernel leaves 128 MiB free below the first thread's stack.
constexpr uintptr_t kNear = 1 << 20;

// How many bytes could be copied from one place of this process to another: the kernel stops at memory that
// cannot be accessed.
size_t copy_checked(int call, void* own, const void* theirs, size_t size) {
  if (size == 0) return 0;
  const KeptErrno kept;
  iovec local = {own, size};
  iovec remote = {const_cast<void*>(theirs), size};
  const long copied = syscall(call, getpid(), &local, 1, &remote, 1, 0);
  return copied > 0 ? static_cast<size_t>(copied) : 0;
}

}  // namespace

// Programs have most commands and answers on their stacks, behind the frame. There the kernel is not asked:
// the page of the frame is there, since the call has written to it; and on the stack of the first thread, so
// is all up to the bytes that the kernel has put at its end. No mapping comes that close to that stack.
bool ProgramMemory::is_behind_frame(const void* place, size_t size) const {
  const auto begin = reinterpret_cast<uintptr_t>(place);
  const uintptr_t top = getauxval(AT_RANDOM);
  const bool first_thread = top > frame_ && top - frame_ < kNear;
  const uintptr_t end = first_thread ? top : (frame_ | (kPage - 1)) + 1;
  return begin >= frame_ && begin < end && size <= end - begin;
}

size_t ProgramMemory::read(void* to, const void* from, size_t size) const {
  if (!is_behind_frame(from, size)) return copy_checked(SYS_process_vm_readv, to, from, size);
  std::memcpy(to, from, size);
  return size;
}

bool ProgramMemory::write(void* to, const void* from, size_t size) const {
  if (!is_behind_frame(to, size))
    return copy_checked(SYS_process_vm_writev, const_cast<void*>(from), to, size) == size;
  std::memcpy(to, from, size);
  return true;
}

}  // namespace urnic::kernel
