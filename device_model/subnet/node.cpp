#include "device_model/subnet/node.hpp"

#include <algorithm>
#include <iterator>

#include "device_model/subnet/link_ability.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

constexpr std::uint8_t kPollingByDefault = 2;
constexpr std::uint8_t kArbitrationEntries = 8;
constexpr std::uint8_t kSubnetTimeout = 18;  // code for 1.07 s
// Until a manager writes: as opensm does by default.
constexpr std::uint8_t kHeadOfQueueLife = 18;  // code for 1.07 s
constexpr std::uint8_t kStallCount = 7;        // packets
constexpr std::uint8_t kMostPhysicalErrors = 8;
constexpr std::uint8_t kMostOverruns = 8;
constexpr std::uint8_t kResponseTime = 16;  // code for 0.27 s
constexpr std::uint64_t kDefaultPrefix = 0xFE80'0000'0000'0000;

SmpData text_of(std::string_view description) {
  SmpData data{};
  std::transform(description.begin(),
                 description.begin() + static_cast<std::ptrdiff_t>(std::min(description.size(), data.size())),
                 data.begin(), [](char letter) { return static_cast<std::byte>(letter); });
  return data;
}

// A port without a cable.
Port make_port(PortNumber number, std::uint8_t mtu) {
  Port port;
  PortInfo& info = port.info;
  info.local_port = number;
  info.state = PortState::down;
  info.physical_state = PhysicalState::polling;
  info.down_default = kPollingByDefault;
  give_ability(info, {.mtu = mtu});
  info.vl_arbitration_high_capacity = info.vl_arbitration_low_capacity = kArbitrationEntries;
  info.response_time = kResponseTime;
  info.head_of_queue_life = kHeadOfQueueLife;
  info.vl_stall_count = kStallCount;
  info.local_physical_errors = kMostPhysicalErrors;
  info.overrun_errors = kMostOverruns;
  port.pkeys[0] = kDefaultPkey;
  return port;
}

// What only a port with a LID has.
void make_managed(PortInfo& info) {
  info.subnet_prefix = kDefaultPrefix;
  info.capability_mask = kHasTraps | kHasSlMapping | kHasSystemImageGuid | kHasExtendedSpeeds;
  info.subnet_timeout = kSubnetTimeout;
  info.guid_capacity = static_cast<std::uint8_t>(kGuidsOfBlock);
}

NodeInfo make_info(NodeType type, Guid guid, PortNumber ports) {
  NodeInfo info;
  info.type = type;
  info.ports = ports;
  info.system_guid = info.node_guid = info.port_guid = guid;
  info.partition_capacity = kPkeys;
  return info;
}

}  // namespace

Node make_adapter(Guid guid, std::string_view description, std::uint8_t mtu) {
  Node node;
  node.info = make_info(NodeType::channel_adapter, guid, 1);
  node.description = text_of(description);
  node.guids[0] = guid;
  node.ports = {Port{}, make_port(1, mtu)};
  PortInfo& info = node.ports[1].info;
  make_managed(info);
  info.capability_mask |= kHasCommunicationManagement | kHasClientReregistration;
  return node;
}

Node make_switch(Guid guid, std::string_view description, PortNumber ports) {
  Node node;
  node.info = make_info(NodeType::switch_node, guid, ports);
  node.description = text_of(description);
  node.guids[0] = guid;
  node.switch_info.linear_capacity = kLinearCapacity;
  node.switch_info.multicast_capacity = kMulticastCapacity;
  node.switch_info.life_time = kSubnetTimeout;
  node.switch_info.partition_enforcement_capacity = kPkeys;
  for (unsigned number = 0; number <= ports; ++number)
    node.ports.push_back(make_port(static_cast<PortNumber>(number), kLargestMtuCode));
  // Port 0 is the switch itself: it has no link, and is up from the beginning.
  PortInfo& own = node.ports[0].info;
  make_managed(own);
  own.state = PortState::active;
  own.physical_state = PhysicalState::link_up;
  return node;
}

std::string description_of(const Node& node) {
  const auto end = std::find(node.description.begin(), node.description.end(), std::byte{0});
  std::string text;
  std::transform(node.description.begin(), end, std::back_inserter(text),
                 [](std::byte letter) { return static_cast<char>(letter); });
  return text;
}

// They differ in the first byte, so that no other node's GUID is near.
Guid port_guid(const Node& adapter, PortNumber port) {
  if (port == 1) return adapter.guids[0];
  return {adapter.info.node_guid.value ^ std::uint64_t{port} << 56};
}

SmpData linear_block(const std::vector<std::uint8_t>& table, std::size_t block) {
  SmpData data;
  for (std::size_t i = 0; i < kLidsOfBlock; ++i) {
    const std::size_t lid = block * kLidsOfBlock + i;
    data[i] = static_cast<std::byte>(lid < table.size() ? table[lid] : kNoRoute);
  }
  return data;
}

bool has_lid(const PortInfo& info, Lid lid) {
  return info.lid.value != 0 && lid.value >= info.lid.value && lid.value < info.lid.value + (1u << info.lmc);
}

}  // namespace urnic::subnet
