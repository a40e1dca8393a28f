#include "device_model/control/fabric/lid_outputs.hpp"

#include <algorithm>

#include "device_model/subnet/lane_tables.hpp"
#include "device_model/subnet/link_ability.hpp"

namespace urnic::control {
namespace {

// Two parts of a table, one after the other, as far as the port has entries (IBTA 14.2.5.9).
std::vector<link::LaneWeight> weights(const wire::mad::SmpData& first, const wire::mad::SmpData& second,
                                      std::uint8_t entries) {
  constexpr std::size_t kEntriesOfPart = 32;
  std::vector<link::LaneWeight> table;
  for (std::size_t i = 0; i < std::min<std::size_t>(entries, 2 * kEntriesOfPart); ++i) {
    const wire::mad::SmpData& part = i < kEntriesOfPart ? first : second;
    const std::size_t at = 2 * (i % kEntriesOfPart);
    table.push_back({static_cast<std::uint8_t>(std::to_integer<unsigned>(part[at]) & 15u),
                     std::to_integer<std::uint8_t>(part[at + 1])});
  }
  return table;
}

link::LaneOfServiceLevel lanes(const wire::mad::SmpData& sl_to_vl) {
  link::LaneOfServiceLevel table{};
  for (unsigned level = 0; level < table.size(); ++level) table[level] = subnet::lane_of(sl_to_vl, level);
  return table;
}

// Of PortInfo's codes (IBTA 14.2.5.6).
std::uint8_t lane_count(std::uint8_t vls) {
  return static_cast<std::uint8_t>(subnet::kDataLanes.at(vls - 1u));
}

link::LidOutput output(const subnet::Nodes& nodes, subnet::NodeIndex index, subnet::PortNumber number) {
  const subnet::Node& node = nodes[index];
  const subnet::Port& port = node.ports[number];
  link::LidOutput out;
  const wire::mad::PortInfo& info = port.info;
  out.most_lanes = lane_count(info.vl_capacity);
  if (!port.peer) return out;
  const subnet::LinkRate rate = subnet::active_rate(info);
  out.megabits_per_second = subnet::data_rate_mbps(rate);
  out.line_width = static_cast<std::uint8_t>(subnet::lanes_of(rate.width));
  out.lanes = lane_count(info.operational_vls);
  out.head_of_queue_life = info.head_of_queue_life;
  out.stall_count = info.vl_stall_count;
  out.high_limit = info.vl_high_limit;
  out.low = weights(port.arbitration[0], port.arbitration[1], info.vl_arbitration_low_capacity);
  out.high = weights(port.arbitration[2], port.arbitration[3], info.vl_arbitration_high_capacity);
  const std::size_t inputs = node.is_switch() ? node.ports.size() : 1;
  for (std::size_t input = 0; input < inputs; ++input)
    out.lane_of.push_back(lanes(subnet::sl_to_vl_of(node, static_cast<subnet::PortNumber>(input), number)));
  return out;
}

}  // namespace

std::vector<link::LidOutput> lid_outputs(const subnet::Nodes& nodes, subnet::NodeIndex node) {
  std::vector<link::LidOutput> outputs(nodes[node].ports.size());
  for (std::size_t port = 1; port < outputs.size(); ++port)
    outputs[port] = output(nodes, node, static_cast<subnet::PortNumber>(port));
  return outputs;
}

}  // namespace urnic::control
