// ibv_advise_mr(3)
#include <cerrno>

#include "device_model/abi/memory_messages.hpp"
#include "provider/freestanding/prefetch.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

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
    if (const int error = Prefetch(reply.address, ranges[i].length).run(request.advice, wait)) return error;
  }
  return 0;
}

}  // namespace urnic::provider
