// Enhanced connection establishment: the vendor's options that a QP uses with its peer. librdmacm asks and
// sets them several times for each connection, mostly without a change: then the device is not asked.
#include <cerrno>

#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/qp.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

std::uint32_t declined_by(const ibv_ece& ece) { return abi::kEceSelectiveAcknowledgement & ~ece.options; }

// The device would agree: options may be set until the QP is connected.
bool changes_nothing(const Qp& qp, const ibv_ece& ece) {
  const ibv_qp& verbs = qp.verbs.qp;
  const bool unconnected = verbs.state == IBV_QPS_RESET || verbs.state == IBV_QPS_INIT;
  return qp.ece.vendor_id != 0 && qp.ece.vendor_id == ece.vendor_id && verbs.qp_type == IBV_QPT_RC &&
         unconnected && qp.ece.declined == declined_by(ece);
}

}  // namespace

int set_ece(ibv_qp* verbs, ibv_ece* ece) {
  Qp& qp = qp_of(verbs);
  if (ece->comp_mask != 0) return EINVAL;
  if (qp.rss_table != nullptr) return EOPNOTSUPP;
  if (changes_nothing(qp, *ece)) return 0;
  const abi::SetEceRequest request{verbs->handle, ece->vendor_id, ece->options};
  abi::Empty reply;
  const int error = call(*qp.context, abi::ControlOpcode::set_ece, request, reply);
  if (error == 0) qp.ece.declined = declined_by(*ece);
  return error;
}

int query_ece(ibv_qp* verbs, ibv_ece* ece) {
  const Qp& qp = qp_of(verbs);
  if (qp.rss_table != nullptr) return EOPNOTSUPP;
  if (qp.ece.vendor_id != 0) {
    *ece = {qp.ece.vendor_id, qp.ece.offered & ~qp.ece.declined, 0};
    return 0;
  }
  abi::QueryEceReply reply{};
  const abi::HandleRequest request{verbs->handle, 0};
  if (const int error = call(*qp.context, abi::ControlOpcode::query_ece, request, reply)) return error;
  *ece = {reply.vendor_id, reply.options, 0};
  return 0;
}

}  // namespace urnic::provider
