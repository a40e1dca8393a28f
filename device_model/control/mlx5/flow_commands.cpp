// CREATE_FLOW, DESTROY_FLOW
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

using Bytes = std::span<const std::byte>;

// What the kernel's specification of a header has behind its first 8 bytes: value and mask, each as long. And
// by what number libibverbs knows it.
struct SpecKind {
  std::uint32_t type = 0;
  std::size_t filter_bytes = 0;
  bool is_known = true;
};

// The kernel's IPv4 has all that libibverbs' extended one has.
SpecKind kind_of(std::uint32_t type) {
  switch (type) {
    case IBV_FLOW_SPEC_ETH:
      return {type, sizeof(ib_uverbs_flow_eth_filter)};
    case IBV_FLOW_SPEC_IPV4:
      return {IBV_FLOW_SPEC_IPV4_EXT, sizeof(ib_uverbs_flow_ipv4_filter)};
    case IBV_FLOW_SPEC_IPV6:
      return {type, sizeof(ib_uverbs_flow_ipv6_filter)};
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP:
      return {type, sizeof(ib_uverbs_flow_tcp_udp_filter)};
    case IBV_FLOW_SPEC_ACTION_DROP:
      return {type, 0};
    default:
      return {.is_known = false};
  }
}
static_assert(sizeof(ib_uverbs_flow_ipv4_filter) == sizeof(ibv_flow_ipv4_ext_filter));
static_assert(sizeof(ib_uverbs_flow_ipv6_filter) <= abi::kFlowFilterBytes);

// Reads the specification at the beginning of `rest`, and takes it off. 0, EINVAL or EOPNOTSUPP.
int read_spec(Bytes& rest, abi::FlowSpec& spec) {
  constexpr std::size_t kFlowSpecHead = sizeof(ib_uverbs_flow_spec_hdr);
  if (rest.size() < kFlowSpecHead) return EINVAL;
  const auto head = begin_of<ib_uverbs_flow_spec_hdr>(rest);
  if (head.size < kFlowSpecHead || head.size > rest.size() || head.reserved != 0) return EINVAL;
  const SpecKind kind = kind_of(head.type);
  if (!kind.is_known) return EOPNOTSUPP;
  if (head.size != kFlowSpecHead + 2 * kind.filter_bytes) return EINVAL;
  spec.type = kind.type;
  std::memcpy(spec.value, rest.data() + kFlowSpecHead, kind.filter_bytes);
  std::memcpy(spec.mask, rest.data() + kFlowSpecHead + kind.filter_bytes, kind.filter_bytes);
  rest = rest.subspan(head.size);
  return 0;
}

int read_specs(Bytes rest, unsigned count, abi::CreateFlowRequest& wanted) {
  if (count > abi::kMaxFlowSpecs) return EINVAL;
  for (wanted.spec_count = 0; wanted.spec_count < count; ++wanted.spec_count)
    if (const int error = read_spec(rest, wanted.specs[wanted.spec_count])) return error;
  return rest.empty() ? 0 : EINVAL;
}

}  // namespace

int create_flow(Command& command) {
  const auto request = begin_of<ib_uverbs_create_flow>(command.core_input);
  const ib_uverbs_flow_attr& rule = request.flow_attr;
  const Bytes specs = command.core_input.subspan(sizeof request);
  if (request.comp_mask != 0 || rule.size != specs.size()) return EINVAL;
  abi::CreateFlowRequest wanted{};
  wanted.qp = request.qp_handle;
  wanted.type = rule.type;
  wanted.flags = rule.flags;
  wanted.priority = rule.priority;
  wanted.port = rule.port;
  if (const int error = read_specs(specs, rule.num_of_specs, wanted)) return error;
  abi::HandleReply made{};
  if (const int error = control::create_flow(command.session, wanted, made, command.descriptors))
    return error;
  command.core.set(ib_uverbs_create_flow_resp{0, made.handle});
  return 0;
}

int destroy_flow(Command& command) {
  const auto request = begin_of<ib_uverbs_destroy_flow>(command.core_input);
  if (request.comp_mask != 0) return EINVAL;
  abi::Empty ignored{};
  return control::destroy_flow(command.session, {request.flow_handle, 0}, ignored, command.descriptors);
}

}  // namespace urnic::control::mlx5
