// create_counters, destroy_counters, read_counters: counters of steering rules (ibv_create_counters(3))
#include <cerrno>

#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control {

int create_counters(Session& session, const abi::Empty&, abi::HandleReply& reply, DescriptorExchange&) {
  auto counters = std::make_unique<FlowCounters>();
  counters->share = session.device.flow_counters.take();
  reply.handle = session.context->flow_counters.add(std::move(counters));
  return 0;
}

int destroy_counters(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  return remove_one(session.context->flow_counters, request.handle);
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
