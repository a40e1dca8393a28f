// Brings pages into memory before their use (ibv_advise_mr(3)). The device copies through this process's page
// tables, so pages that are present here are present for the device.
#pragma once

#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "provider/freestanding/address.hpp"

namespace urnic::provider {

class Prefetch {
 public:
  // Those around [address, address + length).
  Prefetch(std::uint64_t address, std::uint64_t length) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    begin_ = address & ~(page - 1);
    const std::uint64_t end = address + length;
    const std::uint64_t last = end > UINT64_MAX - page ? UINT64_MAX & ~(page - 1) : end + page - 1;
    length_ = (last & ~(page - 1)) - begin_;
  }

  // `advice`: ib_uverbs_advise_mr_advice. 0, or EFAULT if `waits` and not all pages can be there.
  int run(std::uint32_t advice, bool waits) const {
    if (advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT || length_ == 0) return 0;
    if (!waits) {
      advise(MADV_WILLNEED, length_);  // best effort: errors are ignored
      return 0;
    }
    return bring_in(advice == IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE ? kPopulateWrite : kPopulateRead);
  }

 private:
  // From Linux 5.14 on; absent in the headers of older C libraries.
  static constexpr int kPopulateRead = 22;
  static constexpr int kPopulateWrite = 23;

  int advise(int advice, std::uint64_t length) const {
    return madvise(pointer_to(begin_), length, advice) == 0 ? 0 : errno;
  }

  // Does nothing if the kernel does not know `advice`: it then brings the pages in on first use.
  int bring_in(int advice) const {
    if (advise(advice, 0) == EINVAL) return 0;
    int error;
    while ((error = advise(advice, length_)) == EINTR || error == EAGAIN) {
    }
    return error == 0 ? 0 : EFAULT;
  }

  std::uint64_t begin_;
  std::uint64_t length_;
};

}  // namespace urnic::provider
