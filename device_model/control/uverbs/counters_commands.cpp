// create_counters, destroy_counters, read_counters: what steering rules take, counted
// (ibv_create_counters(3))
#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {

int create_counters(Session& session, const abi::Empty&, abi::HandleReply& reply, DescriptorExchange&) {
  if (session.device.flow_counters >= limits::kMaxFlowCounters) return ENOMEM;
  reply.handle = session.context->flow_counters.add(std::make_unique<FlowCounters>());
  ++session.device.flow_counters;
  return 0;
}

int destroy_counters(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  HandleTable<FlowCounters>& table = session.context->flow_counters;
  const FlowCounters* const counters = table.find(request.handle);
  if (counters == nullptr) return EINVAL;
  if (counters->users != 0) return EBUSY;
  table.take(request.handle);
  --session.device.flow_counters;
  return 0;
}

int read_counters(Session& session, const abi::HandleRequest& request, abi::ReadCountersReply& reply,
                  DescriptorExchange&) {
  const FlowCounters* const counters = session.context->flow_counters.find(request.handle);
  if (counters == nullptr) return EINVAL;
  session.fabric.engine(session.device).execute([&] {
    reply = {counters->values.packets, counters->values.bytes};
  });
  return 0;
}

}  // namespace urnic::control
