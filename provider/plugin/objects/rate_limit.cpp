// Limits the rate at which a QP sends.
#include <cerrno>

#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

// Ignores typical_pkt_sz, which is for devices that count packets; this device counts bytes.
int modify_qp_rate_limit(ibv_qp* qp, ibv_qp_rate_limit_attr* attributes) {
  if (attributes->comp_mask != 0) return EINVAL;
  const abi::LimitRateRequest request{qp->handle, attributes->rate_limit, attributes->max_burst_sz};
  abi::Empty reply;
  return call(*qp_of(qp).context, abi::ControlOpcode::limit_rate, request, reply);
}

}  // namespace urnic::provider
