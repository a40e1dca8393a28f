// set_ece, query_ece: enhanced connection establishment (IBTA CM annex; ibv_set_ece(3)). Two ends that
// exchange options before they connect agree on selective acknowledgements at once, instead of detecting them
// in each other's packets.
#include <cerrno>

#include "device_model/control/uverbs/commands.hpp"
#include "device_model/engine/engine.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::control {
namespace {

using transport::QpState;

}  // namespace

std::uint32_t ece_options(const Session& session, const QueuePair& qp) {
  const bool offers = qp.service == transport::QpService::rc &&
                      transport::reads_selective_acks(session.device.settings.recovery.mode);
  return offers ? abi::kEceSelectiveAcknowledgement & ~qp.declined_ece : 0;
}

// Options must be set before the QP is connected. Options that the peer lacks are not used; without selective
// acknowledgements a QP still uses its reorder buffer.
int set_ece(Session& session, const abi::SetEceRequest& request, abi::Empty&, DescriptorExchange&) {
  QueuePair* const qp = session.context->qps.find(request.handle);
  if (qp == nullptr || request.vendor_id != session.device.settings.vendor_id) return EINVAL;
  if (qp->service != transport::QpService::rc) return EOPNOTSUPP;
  bool unconnected = false;
  transport::RecoverySettings recovery = session.device.settings.recovery;
  const std::uint32_t declined = abi::kEceSelectiveAcknowledgement & ~request.options;
  if (declined != 0 && transport::reads_selective_acks(recovery.mode)) {
    recovery.mode = transport::RecoveryMode::selective;
  }
  session.fabric.engine(session.device).execute([&] {
    const QpState state = qp->shared->hosted->state();
    unconnected = state == QpState::reset || state == QpState::init;
    if (unconnected) qp->shared->hosted->set_recovery(recovery);
  });
  if (!unconnected) return EINVAL;
  qp->declined_ece = declined;
  return 0;
}

int query_ece(Session& session, const abi::HandleRequest& request, abi::QueryEceReply& reply,
              DescriptorExchange&) {
  const QueuePair* const qp = session.context->qps.find(request.handle);
  if (qp == nullptr) return EINVAL;
  reply.vendor_id = session.device.settings.vendor_id;
  reply.options = ece_options(session, *qp);
  return 0;
}

}  // namespace urnic::control
