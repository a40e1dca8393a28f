#include "provider/shared_pages/frozen_range.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "provider/freestanding/address.hpp"
#include "provider/freestanding/calls.hpp"
#include "provider/shared_pages/call_filter.hpp"

namespace urnic::provider {
namespace {

constexpr int kDontUnmap = 4;  // MREMAP_DONTUNMAP, Linux 5.7

}  // namespace

FrozenRange::FrozenRange(const abi::PageRange& range) : range_(range) {
  if (has_filter_of_calls() || !watch()) return;
  void* const moved = move_memory(pointer_to(range.address), range.length, range.length,
                                  MREMAP_MAYMOVE | kDontUnmap, nullptr);
  if (moved != MAP_FAILED) pages_ = static_cast<char*>(moved);
}

bool FrozenRange::watch() {
  watcher_.reset(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK)));
  if (!watcher_.valid()) return false;
  uffdio_api api{};
  api.api = UFFD_API;
  uffdio_register range{};
  range.range = {range_.address, range_.length};
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  return control_file(watcher_.get(), UFFDIO_API, &api) == 0 &&
         control_file(watcher_.get(), UFFDIO_REGISTER, &range) == 0;
}

// The end of the watcher wakes those who wait.
FrozenRange::~FrozenRange() {
  if (pages_ == nullptr) return;
  if (replaced_) {
    munmap(pages_, range_.length);
  } else {
    move_memory(pages_, range_.length, range_.length, MREMAP_MAYMOVE | MREMAP_FIXED,
                pointer_to(range_.address));
  }
  uffdio_range range{range_.address, range_.length};
  control_file(watcher_.get(), UFFDIO_WAKE, &range);
}

}  // namespace urnic::provider
