// Brings pages into memory before their use (ibv_advise_mr(3)). The device copies through this process's page
// tables, so pages that are present here are present for the device.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "device_model/abi/memory_messages.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

// From Linux 5.14 on; absent in the headers of older C libraries.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

struct Pages {
  std::uint64_t begin;
  std::uint64_t length;
};

Pages pages_around(std::uint64_t address, std::uint64_t length) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t begin = address & ~(page - 1);
  const std::uint64_t end = address + length;
  const std::uint64_t last = end > UINT64_MAX - page ? UINT64_MAX & ~(page - 1) : end + page - 1;
  return {begin, (last & ~(page - 1)) - begin};
}

int advise(const Pages& pages, int advice) {
  return madvise(reinterpret_cast<void*>(pages.begin), pages.length, advice) == 0 ? 0 : errno;
}

// 0 or EFAULT. Does nothing if the kernel does not know `advice`: it then brings the pages in on first use.
int bring_in(const Pages& pages, int advice) {
  if (advise({pages.begin, 0}, advice) == EINVAL) return 0;
  int error;
  while ((error = advise(pages, advice)) == EINTR || error == EAGAIN) {
  }
  return error == 0 ? 0 : EFAULT;
}

int prefetch(ibv_advise_mr_advice advice, bool wait, const Pages& pages) {
  if (advice == IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT || pages.length == 0) return 0;
  if (!wait) {
    advise(pages, MADV_WILLNEED);  // best effort: errors are ignored
    return 0;
  }
  return bring_in(pages, advice == IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE ? kPopulateWrite : kPopulateRead);
}

}  // namespace

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* ranges,
              std::uint32_t count) {
  if ((flags & ~std::uint32_t{IBV_ADVISE_MR_FLAG_FLUSH}) != 0 || count == 0) return EINVAL;
  for (std::uint32_t i = 0; i < count; ++i) {
    const abi::AdviseMrRequest request{
        ranges[i].addr, ranges[i].length, pd->handle, ranges[i].lkey, static_cast<std::uint32_t>(advice), 0};
    abi::AdviseMrReply reply{};
    if (const int error = call(context_of(pd->context), abi::ControlOpcode::advise_mr, request, reply))
      return error;
    if (reply.is_senders == 0) continue;  // this process cannot bring in another process's pages
    const bool wait = (flags & IBV_ADVISE_MR_FLAG_FLUSH) != 0;
    if (const int error = prefetch(advice, wait, pages_around(reply.address, ranges[i].length))) return error;
  }
  return 0;
}

}  // namespace urnic::provider
