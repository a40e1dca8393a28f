#include <cerrno>
#include <cstring>

#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

abi::MulticastRequest request_for(const ibv_qp& qp, const ibv_gid& group) {
  abi::MulticastRequest request{};
  std::memcpy(request.group, group.raw, sizeof request.group);
  request.qp = qp.handle;
  return request;
}

}  // namespace

// RoCE has no local identifiers (LIDs), so the last argument is ignored.
int attach_multicast(ibv_qp* qp, const ibv_gid* group, std::uint16_t) {
  abi::Empty reply;
  return call(context_of(qp->context), abi::ControlOpcode::attach_multicast, request_for(*qp, *group), reply);
}

int detach_multicast(ibv_qp* qp, const ibv_gid* group, std::uint16_t) {
  Context& context = context_of(qp->context);
  abi::Empty reply;
  const int error = call(context, abi::ControlOpcode::detach_multicast, request_for(*qp, *group), reply);
  return outcome_of_release(context, error);
}

}  // namespace urnic::provider
