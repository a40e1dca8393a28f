// create_flow, destroy_flow
#include <infiniband/verbs.h>

#include <cerrno>

#include "device_model/control/fabric/limits.hpp"
#include "device_model/control/objects/removal.hpp"
#include "device_model/control/uverbs/commands.hpp"
#include "device_model/control/uverbs/flow_specs.hpp"
#include "device_model/control/uverbs/raw_packet_rights.hpp"
#include "device_model/engine/device.hpp"
#include "device_model/engine/queue_pair/queue_pair_context.hpp"

namespace urnic::control {
namespace {

// 0 or an errno.
int kind_of(std::uint32_t type, engine::RuleKind& kind) {
  switch (type) {
    case IBV_FLOW_ATTR_NORMAL:
      kind = engine::RuleKind::normal;
      return 0;
    case IBV_FLOW_ATTR_ALL_DEFAULT:
      kind = engine::RuleKind::all_default;
      return 0;
    case IBV_FLOW_ATTR_MC_DEFAULT:
      kind = engine::RuleKind::multicast_default;
      return 0;
    case IBV_FLOW_ATTR_SNIFFER:
      kind = engine::RuleKind::sniffer;
      return 0;
    default:
      return EINVAL;
  }
}

// Sent frames are not steered.
int read_flags(std::uint32_t flags, engine::SteeringRule& rule) {
  if ((flags & IBV_FLOW_ATTR_FLAGS_EGRESS) != 0) return EOPNOTSUPP;
  if ((flags & ~std::uint32_t{IBV_FLOW_ATTR_FLAGS_DONT_TRAP}) != 0) return EINVAL;
  rule.passes_on = flags != 0;
  return rule.passes_on && rule.kind != engine::RuleKind::normal ? EINVAL : 0;
}

int read_rule(const abi::CreateFlowRequest& request, engine::SteeringRule& rule) {
  if (request.port != limits::kPorts || request.spec_count > abi::kMaxFlowSpecs) return EINVAL;
  if (const int error = kind_of(request.type, rule.kind)) return error;
  if (const int error = read_flags(request.flags, rule)) return error;
  // Only a normal rule has specifications; without any it takes all frames left by rules before it.
  if (rule.kind != engine::RuleKind::normal && request.spec_count != 0) return EINVAL;
  rule.priority = request.priority;
  FlowTerms terms;
  if (const int error = read_flow_specs(std::span(request.specs).first(request.spec_count), terms))
    return error;
  rule.match = terms.match;
  if (!terms.drops) return 0;
  rule.target = {};
  return rule.passes_on ? EINVAL : 0;
}

// Some hardware has rules for datagram QPs; here their packets are found by QPN alone.
int find_queue_pair(Context& context, std::uint32_t handle, Flow& flow) {
  flow.qp = context.qps.find(handle);
  if (flow.qp == nullptr) return EINVAL;
  if (flow.qp->service == transport::QpService::ud) return EOPNOTSUPP;
  return flow.qp->service == transport::QpService::raw_packet ? 0 : EINVAL;
}

int find_target(Context& context, const abi::CreateFlowRequest& request, Flow& flow,
                engine::SteeringTarget& target) {
  if ((request.qp & abi::kRssQpHandle) == 0) {
    if (const int error = find_queue_pair(context, request.qp, flow)) return error;
    target.queue_pair = flow.qp->shared->hosted.get();
    return 0;
  }
  flow.rss_qp = context.rss_qps.find(request.qp ^ abi::kRssQpHandle);
  if (flow.rss_qp == nullptr) return EINVAL;
  target.rss_table = flow.rss_qp->rss_table.get();
  target.hides_own_unicast = flow.rss_qp->hides_own_unicast;
  target.hides_own_groups = flow.rss_qp->hides_own_groups;
  return 0;
}

}  // namespace

int create_flow(Session& session, const abi::CreateFlowRequest& request, abi::HandleReply& reply,
                DescriptorExchange&) {
  if (const int error = check_raw_frames(session, "create a flow")) return error;
  Context& context = *session.context;
  auto flow = std::make_unique<Flow>();
  engine::SteeringRule rule;
  if (const int error = find_target(context, request, *flow, rule.target)) return error;
  if (const int error = read_rule(request, rule)) return error;
  // A NIC requires CAP_NET_RAW; a program without it sees no packets for other programs' queue pairs.
  if (!session.has_net_raw()) rule.sees_only = context.id;
  if (request.counters != 0) {
    flow->counters = context.flow_counters.find(request.counters);
    if (flow->counters == nullptr) return EINVAL;
    rule.target.counters = &flow->counters->values;
  }
  flow->share = session.device.flows.take();

  Joining joining(context.flows, std::move(flow));
  session.fabric.engine(session.device).execute([&] {
    joining->number = session.device.device->add_steering_rule(rule);
  });
  reply.handle = joining.keep();
  return 0;
}

int destroy_flow(Session& session, const abi::HandleRequest& request, abi::Empty&, DescriptorExchange&) {
  return remove_one(session.context->flows, request.handle, session.fabric.engine(session.device),
                    [&](const Flow& flow) { session.device.device->remove_steering_rule(flow.number); });
}

}  // namespace urnic::control
