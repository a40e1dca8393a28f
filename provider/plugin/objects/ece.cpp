// Enhanced connection establishment: the vendor's options that a QP uses with its peer.
#include <cerrno>

#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {

int set_ece(ibv_qp* qp, ibv_ece* ece) {
  if (ece->comp_mask != 0) return EINVAL;
  const abi::SetEceRequest request{qp->handle, ece->vendor_id, ece->options};
  abi::Empty reply;
  return call(*qp_of(qp).context, abi::ControlOpcode::set_ece, request, reply);
}

int query_ece(ibv_qp* qp, ibv_ece* ece) {
  abi::QueryEceReply reply{};
  const abi::HandleRequest request{qp->handle, 0};
  if (const int error = call(*qp_of(qp).context, abi::ControlOpcode::query_ece, request, reply)) return error;
  *ece = {reply.vendor_id, reply.options, 0};
  return 0;
}

}  // namespace urnic::provider
