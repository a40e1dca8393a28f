#include "device_model/control/uverbs/flow_specs.hpp"

#include <infiniband/verbs.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

namespace urnic::control {
namespace {

using engine::FrameFields;

// Where a header's filter is in FrameFields, and what a matching frame must have.
struct SpecLayout {
  std::size_t offset = 0;
  std::size_t bytes = 0;
  std::uint8_t layers = 0;
};

constexpr SpecLayout kEthernet{offsetof(FrameFields, destination_mac), sizeof(ibv_flow_eth_filter), 0};
constexpr SpecLayout kIpv4{offsetof(FrameFields, ipv4_source), sizeof(ibv_flow_ipv4_filter),
                           engine::layer_ipv4};
constexpr SpecLayout kIpv4Extended{offsetof(FrameFields, ipv4_source), sizeof(ibv_flow_ipv4_ext_filter),
                                   engine::layer_ipv4};
// Without the padding at the end.
constexpr SpecLayout kIpv6{offsetof(FrameFields, ipv6_source),
                           offsetof(FrameFields, reserved) - offsetof(FrameFields, ipv6_source),
                           engine::layer_ipv6};
constexpr SpecLayout kTcp{offsetof(FrameFields, destination_port), sizeof(ibv_flow_tcp_udp_filter),
                          engine::layer_tcp};
constexpr SpecLayout kUdp{offsetof(FrameFields, destination_port), sizeof(ibv_flow_tcp_udp_filter),
                          engine::layer_udp};

static_assert(offsetof(ibv_flow_eth_filter, src_mac) == 6 &&
              offsetof(ibv_flow_eth_filter, ether_type) == 12 &&
              offsetof(ibv_flow_eth_filter, vlan_tag) == 14 && sizeof(ibv_flow_eth_filter) == 16);
static_assert(offsetof(ibv_flow_ipv4_filter, dst_ip) == 4 && sizeof(ibv_flow_ipv4_filter) == 8);
static_assert(offsetof(ibv_flow_ipv4_ext_filter, proto) == 8 &&
              offsetof(ibv_flow_ipv4_ext_filter, tos) == 9 && offsetof(ibv_flow_ipv4_ext_filter, ttl) == 10 &&
              offsetof(ibv_flow_ipv4_ext_filter, flags) == 11 && sizeof(ibv_flow_ipv4_ext_filter) == 12);
static_assert(offsetof(ibv_flow_ipv6_filter, dst_ip) == 16 &&
              offsetof(ibv_flow_ipv6_filter, flow_label) == 32 &&
              offsetof(ibv_flow_ipv6_filter, next_hdr) == 36 &&
              offsetof(ibv_flow_ipv6_filter, traffic_class) == 37 &&
              offsetof(ibv_flow_ipv6_filter, hop_limit) == 38 &&
              sizeof(ibv_flow_ipv6_filter) == abi::kFlowFilterBytes);
static_assert(offsetof(ibv_flow_tcp_udp_filter, src_port) == 2 && sizeof(ibv_flow_tcp_udp_filter) == 4);

// Returns 0 or the error.
int find_layout(std::uint32_t type, SpecLayout& layout) {
  switch (type) {
    case IBV_FLOW_SPEC_ETH:
      layout = kEthernet;
      return 0;
    case IBV_FLOW_SPEC_IPV4:
      layout = kIpv4;
      return 0;
    case IBV_FLOW_SPEC_IPV4_EXT:
      layout = kIpv4Extended;
      return 0;
    case IBV_FLOW_SPEC_IPV6:
      layout = kIpv6;
      return 0;
    case IBV_FLOW_SPEC_TCP:
      layout = kTcp;
      return 0;
    case IBV_FLOW_SPEC_UDP:
      layout = kUdp;
      return 0;
    case IBV_FLOW_SPEC_ESP:
    case IBV_FLOW_SPEC_VXLAN_TUNNEL:
    case IBV_FLOW_SPEC_GRE:
    case IBV_FLOW_SPEC_MPLS:
    case IBV_FLOW_SPEC_ACTION_TAG:
    case IBV_FLOW_SPEC_ACTION_HANDLE:
    case IBV_FLOW_SPEC_ACTION_COUNT:
      return EOPNOTSUPP;
    default:
      return (type & IBV_FLOW_SPEC_INNER) != 0 ? EOPNOTSUPP : EINVAL;
  }
}

// Sets of headers; a frame has one of each, and a rule may name at most one of each.
enum Level : unsigned { level_ethernet = 1, level_network = 2, level_transport = 4 };

unsigned level_of(const SpecLayout& layout) {
  if (layout.offset == kEthernet.offset) return level_ethernet;
  return layout.offset == kTcp.offset ? level_transport : level_network;
}

void add(const abi::FlowSpec& spec, const SpecLayout& layout, engine::FrameMatch& match) {
  auto* const value = reinterpret_cast<std::uint8_t*>(&match.value) + layout.offset;
  auto* const mask = reinterpret_cast<std::uint8_t*>(&match.mask) + layout.offset;
  for (std::size_t i = 0; i < layout.bytes; ++i) {
    mask[i] = spec.mask[i];
    value[i] = spec.value[i] & spec.mask[i];
  }
  match.layers |= layout.layers;
}

// An Ethernet type that is compared completely must be that of the rule's IP header.
bool is_contradictory(const engine::FrameMatch& match) {
  using EtherType = std::array<std::uint8_t, 2>;
  if (match.mask.ether_type != EtherType{0xFF, 0xFF}) return false;
  const EtherType wanted = match.value.ether_type;
  const bool ipv4 = (match.layers & engine::layer_ipv4) != 0;
  const bool ipv6 = (match.layers & engine::layer_ipv6) != 0;
  return (ipv4 && wanted != EtherType{0x08, 0x00}) || (ipv6 && wanted != EtherType{0x86, 0xDD});
}

}  // namespace

int read_flow_specs(std::span<const abi::FlowSpec> specs, FlowTerms& terms) {
  engine::FrameMatch& match = terms.match;
  unsigned levels = 0;
  for (const abi::FlowSpec& spec : specs) {
    if (spec.type == IBV_FLOW_SPEC_ACTION_DROP) {
      if (std::exchange(terms.drops, true)) return EINVAL;
      continue;
    }
    SpecLayout layout;
    if (const int error = find_layout(spec.type, layout)) return error;
    const unsigned level = level_of(layout);
    if ((levels & level) != 0) return EINVAL;
    levels |= level;
    add(spec, layout, match);
  }
  constexpr std::array<std::uint8_t, 2> kAnyTag{};
  if (match.mask.vlan_tag != kAnyTag) match.layers |= engine::layer_vlan;
  return is_contradictory(match) ? EINVAL : 0;
}

}  // namespace urnic::control
