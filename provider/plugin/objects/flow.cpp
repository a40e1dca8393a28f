// Steering rules. Behind ibv_flow_attr, the program lists the headers that a frame must have.
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "device_model/abi/steering_messages.hpp"
#include "provider/freestanding/allocation.hpp"
#include "provider/plugin/connection/control_call.hpp"
#include "provider/plugin/objects/counters.hpp"
#include "provider/plugin/operations.hpp"

namespace urnic::provider {
namespace {

static_assert(sizeof(ibv_flow_ipv6_filter) == abi::kFlowFilterBytes);  // the longest

// The offsets of value and mask in a specification, and the size of each. All 0: the type is not supported.
struct SpecLayout {
  std::size_t value;
  std::size_t mask;
  std::size_t bytes;
};

template <typename Spec>
constexpr SpecLayout layout_of() {
  return {offsetof(Spec, val), offsetof(Spec, mask), sizeof(Spec::val)};
}

SpecLayout find_layout(std::uint32_t type) {
  switch (type) {
    case IBV_FLOW_SPEC_ETH:
      return layout_of<ibv_flow_spec_eth>();
    case IBV_FLOW_SPEC_IPV4:
      return layout_of<ibv_flow_spec_ipv4>();
    case IBV_FLOW_SPEC_IPV4_EXT:
      return layout_of<ibv_flow_spec_ipv4_ext>();
    case IBV_FLOW_SPEC_IPV6:
      return layout_of<ibv_flow_spec_ipv6>();
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP:
      return layout_of<ibv_flow_spec_tcp_udp>();
    default:
      return {};
  }
}

// Copies the specification at `from` and moves `from` behind it. An unsupported type is copied without its
// values: the device refuses the type. 0 or EINVAL.
int read_spec(const char*& from, abi::FlowSpec& spec) {
  std::uint16_t size = 0;
  std::memcpy(&spec.type, from, sizeof spec.type);
  std::memcpy(&size, from + sizeof spec.type, sizeof size);
  const SpecLayout layout = find_layout(spec.type);
  if (size < sizeof spec.type + sizeof size || size < layout.mask + layout.bytes) return EINVAL;
  std::memcpy(spec.value, from + layout.value, layout.bytes);
  std::memcpy(spec.mask, from + layout.mask, layout.bytes);
  from += size;
  return 0;
}

// Reads the specification that names the rule's counters. It matches no header. 0 or EINVAL.
int read_counting(const char*& from, abi::CreateFlowRequest& request) {
  ibv_flow_spec_counter_action action;
  std::memcpy(&action, from, sizeof action);
  if (action.size < sizeof action || action.counters == nullptr || request.counters != 0) return EINVAL;
  request.counters = counters_of(action.counters).handle;
  from += action.size;
  return 0;
}

int read_attributes(const ibv_flow_attr& attributes, abi::CreateFlowRequest& request) {
  if (attributes.comp_mask != 0) return EOPNOTSUPP;
  if (attributes.num_of_specs > abi::kMaxFlowSpecs) return EINVAL;
  request.type = attributes.type;
  request.flags = attributes.flags;
  request.priority = attributes.priority;
  request.port = attributes.port;
  const char* from = reinterpret_cast<const char*>(&attributes + 1);
  for (std::uint32_t i = 0; i < attributes.num_of_specs; ++i) {
    std::uint32_t type = 0;
    std::memcpy(&type, from, sizeof type);
    const int error = type == IBV_FLOW_SPEC_ACTION_COUNT
                          ? read_counting(from, request)
                          : read_spec(from, request.specs[request.spec_count++]);
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attributes) {
  abi::CreateFlowRequest request{};
  request.qp = qp->handle;
  int error = read_attributes(*attributes, request);
  ibv_flow* flow = error == 0 ? create_object<ibv_flow>() : nullptr;
  if (error == 0 && flow == nullptr) error = ENOMEM;
  abi::HandleReply reply{};
  if (error == 0) error = call(context_of(qp->context), abi::ControlOpcode::create_flow, request, reply);
  if (error != 0) {
    destroy_object(flow);
    errno = error;
    return nullptr;
  }
  flow->context = qp->context;
  flow->handle = reply.handle;
  return flow;
}

int destroy_flow(ibv_flow* flow) {
  const int error = release(context_of(flow->context), abi::ControlOpcode::destroy_flow, flow->handle);
  if (error == 0) destroy_object(flow);
  return error;
}

}  // namespace urnic::provider
