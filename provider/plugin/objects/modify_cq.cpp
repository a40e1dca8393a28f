// CQ moderation: how many completions share an event.
#include <cerrno>

#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/cq.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attributes) {
  if ((attributes->attr_mask & ~std::uint32_t{IBV_CQ_ATTR_MODERATE}) != 0) return EINVAL;
  if (attributes->attr_mask == 0) return 0;
  const abi::ModifyCqRequest request{cq->handle, attributes->moderate.cq_count,
                                     attributes->moderate.cq_period};
  abi::Empty reply;
  return call(*cq_of(cq).context, abi::ControlOpcode::modify_cq, request, reply);
}

}  // namespace urnic::provider
