// CREATE_FLOW, DESTROY_FLOW
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <vector>

#include "device_model/abi/steering_messages.hpp"
#include "device_model/control/mlx5/context_part.hpp"
#include "device_model/control/mlx5/handlers.hpp"
#include "device_model/control/uverbs/commands.hpp"

namespace urnic::control::mlx5 {
namespace {

using Bytes = std::span<const std::byte>;

// What the kernel knows of a header: a filter of so many bytes. And by what number libibverbs knows it.
struct SpecKind {
  std::uint32_t type = 0;
  std::size_t filter_bytes = 0;
  bool is_known = true;
};

// The kernel's IPv4 has all that libibverbs' extended one has; libibverbs' other one ends with the addresses.
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

// A filter is as long as the program's library knew it when it was built: its value, then its mask. What a
// shorter one lacks is not compared; what a longer one has beyond may be compared with nothing (Linux:
// spec_filter_size).
int read_filter(Bytes filters, const SpecKind& kind, abi::FlowSpec& spec) {
  if (kind.filter_bytes == 0) return filters.empty() ? 0 : EINVAL;
  if (filters.empty() || filters.size() % 4 != 0) return EINVAL;
  const Bytes value = filters.first(filters.size() / 2);
  const Bytes mask = filters.subspan(value.size());
  const std::size_t known = std::min(mask.size(), kind.filter_bytes);
  const Bytes beyond = mask.subspan(known);
  if (std::any_of(beyond.begin(), beyond.end(), [](std::byte each) { return each != std::byte{}; }))
    return EINVAL;
  std::copy_n(value.begin(), known, reinterpret_cast<std::byte*>(spec.value));
  std::copy_n(mask.begin(), known, reinterpret_cast<std::byte*>(spec.mask));
  return 0;
}

// The one that names the rule's counters matches no header.
int read_counters_spec(const Bytes& spec, abi::CreateFlowRequest& wanted) {
  if (spec.size() != sizeof(ib_uverbs_flow_spec_action_count) || wanted.counters != 0) return EINVAL;
  wanted.counters = begin_of<ib_uverbs_flow_spec_action_count>(spec).handle;
  return wanted.counters != 0 ? 0 : EINVAL;
}

// Reads the specification at the beginning of `rest`, and takes it off. 0, EINVAL or EOPNOTSUPP.
int read_spec(Bytes& rest, abi::CreateFlowRequest& wanted) {
  constexpr std::size_t kFlowSpecHead = sizeof(ib_uverbs_flow_spec_hdr);
  if (rest.size() < kFlowSpecHead) return EINVAL;
  const auto head = begin_of<ib_uverbs_flow_spec_hdr>(rest);
  if (head.size < kFlowSpecHead || head.size > rest.size() || head.reserved != 0) return EINVAL;
  if (head.type == IBV_FLOW_SPEC_ACTION_COUNT) {
    const Bytes counters = rest.first(head.size);
    rest = rest.subspan(head.size);
    return read_counters_spec(counters, wanted);
  }
  const SpecKind kind = kind_of(head.type);
  if (!kind.is_known) return EOPNOTSUPP;
  abi::FlowSpec& spec = wanted.specs[wanted.spec_count++];
  spec.type = kind.type;
  const Bytes filters = rest.first(head.size).subspan(kFlowSpecHead);
  rest = rest.subspan(head.size);
  return read_filter(filters, kind, spec);
}

int read_specs(Bytes rest, unsigned count, abi::CreateFlowRequest& wanted) {
  if (count > abi::kMaxFlowSpecs) return EINVAL;
  for (unsigned i = 0; i < count; ++i)
    if (const int error = read_spec(rest, wanted)) return error;
  return rest.empty() ? 0 : EINVAL;
}

// What the rule's counters count. The kernel stand-in has put the program's list behind the structures.
int read_counter_points(Bytes driver, std::optional<std::vector<CounterPoint>>& points) {
  const auto head = begin_of<mlx5_ib_create_flow>(driver);
  if (driver.size() < sizeof head || head.ncounters_data == 0) return 0;
  driver = driver.subspan(sizeof head);
  const auto data = begin_of<mlx5_ib_flow_counters_data>(driver);
  if (head.ncounters_data != 1 || driver.size() < sizeof data || data.ncounters > kMostCounterPoints)
    return EINVAL;
  driver = driver.subspan(sizeof data);
  if (driver.size() != data.ncounters * sizeof(mlx5_ib_flow_counters_desc)) return EINVAL;
  points.emplace();
  for (; !driver.empty(); driver = driver.subspan(sizeof(mlx5_ib_flow_counters_desc))) {
    const auto entry = begin_of<mlx5_ib_flow_counters_desc>(driver);
    if (entry.description > IBV_COUNTER_BYTES || entry.index >= kMostCounterPoints) return EINVAL;
    points->push_back({entry.description == IBV_COUNTER_BYTES, entry.index});
  }
  return 0;
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
  std::optional<std::vector<CounterPoint>> points;
  if (const int error = read_counter_points(command.driver_input, points)) return error;
  abi::HandleReply made{};
  if (const int error = control::create_flow(command.session, wanted, made, command.descriptors))
    return error;
  if (points && wanted.counters != 0)
    part_of(*command.session.context)->counter_points[wanted.counters] = std::move(*points);
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
