#include "provider/kernel/page_watch.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "provider/kernel/real.hpp"
#include "provider/shared_pages/call_filter.hpp"

namespace urnic::kernel {

namespace {

// Without the right to make the kernel itself wait, which needs a privilege (userfaultfd(2), from Linux 5.11
// on).
constexpr int kUserModeOnly = 1;

}  // namespace

provider::Descriptor watch_pages(void* pages, size_t length) {
  provider::Descriptor watch;
  if (provider::has_filter_of_calls()) return watch;
  watch.reset(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | kUserModeOnly)));
  if (!watch.valid()) return watch;
  uffdio_api api = {};
  api.api = UFFD_API;
  uffdio_register range = {};
  range.range.start = reinterpret_cast<uintptr_t>(pages);
  range.range.len = length;
  range.mode = UFFDIO_REGISTER_MODE_MISSING;
  if (real::ioctl(watch.get(), UFFDIO_API, &api) != 0 ||
      real::ioctl(watch.get(), UFFDIO_REGISTER, &range) != 0)
    watch.reset();
  return watch;
}

}  // namespace urnic::kernel
