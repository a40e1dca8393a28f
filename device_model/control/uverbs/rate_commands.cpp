// limit_rate: a QP's sending rate (ibv_modify_qp_rate_limit(3)).
#include <cerrno>
#include <limits>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/rate_limit.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::control {

bool is_valid_rate(const QueuePair& qp, std::uint32_t rate_kbps) {
  // Types that only this protocol has are beyond these bits.
  const bool is_limited = qp.request.type < std::numeric_limits<std::uint32_t>::digits &&
                          (limits::kRateLimitedTypes >> qp.request.type & 1) != 0;
  return is_limited && (rate_kbps == 0 || (rate_kbps >= limits::kMinRate && rate_kbps <= limits::kMaxRate));
}

// Only a sending QP can be limited: the kernel's drivers accept it from RTS on, too.
int limit_rate(Session& session, const abi::LimitRateRequest& request, abi::Empty&, DescriptorExchange&) {
  QueuePair* const qp = session.context->qps.find(request.handle);
  if (qp == nullptr || !is_valid_rate(*qp, request.rate_kbps)) return EINVAL;
  bool sends = false;
  session.fabric.engine(session.device).execute([&] {
    sends = qp->shared->hosted->state() == transport::QpState::rts;
    if (sends) qp->shared->hosted->limit_rate(request.rate_kbps, request.burst_bytes);
  });
  if (!sends) return EINVAL;
  qp->shared->attributes.rate_limit = request.rate_kbps;
  return 0;
}

}  // namespace urnic::control
