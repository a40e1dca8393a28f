#include "provider/shared_pages/queue_pages.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

#include "provider/freestanding/address.hpp"
#include "provider/freestanding/calls.hpp"
#include "provider/shared_pages/frozen_range.hpp"
#include "provider/shared_pages/other_threads.hpp"

namespace urnic::provider {
namespace {

constexpr int kReadWrite = PROT_READ | PROT_WRITE;

// Memory at an address of the kernel's choice, on its way to another one.
class Moved {
 public:
  Moved(std::uint64_t length, int flags, int file, std::uint64_t offset)
      : length_(length),
        place_(map_memory(nullptr, length, kReadWrite, flags, file, static_cast<off_t>(offset))) {}
  ~Moved() {
    if (is_there()) munmap(place_, length_);
  }
  Moved(const Moved&) = delete;
  Moved& operator=(const Moved&) = delete;

  bool is_there() const { return place_ != MAP_FAILED; }

  // By the kernel, which stops at memory that is not there. False: not all could be copied.
  bool copy_from(const void* from) {
    const iovec local = {place_, length_};
    const iovec remote = {const_cast<void*>(from), length_};
    const long copied = syscall(SYS_process_vm_readv, getpid(), &local, 1L, &remote, 1L, 0L);
    return copied == static_cast<long>(length_);
  }

  // Replaces what is there, in one step. 0 or an errno.
  int move_to(std::uint64_t address) {
    void* const wanted = pointer_to(address);
    if (move_memory(place_, length_, length_, MREMAP_MAYMOVE | MREMAP_FIXED, wanted) != wanted) return errno;
    place_ = MAP_FAILED;
    return 0;
  }

 private:
  std::uint64_t length_;
  void* place_;
};

// A further mapping of the same pages is possible of shared memory only (mremap(2), old_size 0).
bool is_shared(std::uint64_t address) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const second = move_memory(pointer_to(address), 0, page, MREMAP_MAYMOVE, nullptr);
  if (second == MAP_FAILED) return false;
  munmap(second, page);
  return true;
}

int replace(const abi::PageRange& range, Moved& pages) {
  if (!pages.copy_from(pointer_to(range.address))) return EFAULT;
  return pages.move_to(range.address);
}

int replace_frozen(const abi::PageRange& range, Moved& pages) {
  FrozenRange frozen(range);
  if (!frozen.is_frozen()) return EPERM;
  if (!pages.copy_from(frozen.pages())) return EFAULT;
  const int error = pages.move_to(range.address);
  if (error == 0) frozen.replaced();
  return error;
}

}  // namespace

int put_queue_pages(const abi::PageRange& range, int file, std::uint64_t offset, bool may_be_shared) {
  if (!may_be_shared && is_shared(range.address)) return EOPNOTSUPP;
  Moved pages(range.length, MAP_SHARED, file, offset);
  if (!pages.is_there()) return errno;
  if (have_other_threads()) {
    const int error = replace_frozen(range, pages);
    if (error != EPERM) return error;
  }
  return replace(range, pages);
}

void take_queue_pages(const abi::PageRange& range) {
  Moved pages(range.length, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages.is_there()) replace(range, pages);
}

}  // namespace urnic::provider
