#include "device_model/subnet/agent.hpp"

#include <algorithm>

#include "device_model/subnet/lane_tables.hpp"
#include "device_model/subnet/link_ability.hpp"
#include "device_model/subnet/m_key.hpp"
#include "device_model/subnet/notices.hpp"
#include "device_model/subnet/port_settings.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

struct Question {
  Nodes& nodes;
  PortPlace place;
  Smp& smp;
  bool is_set;
  Node& node() const { return nodes[place.node]; }
  std::uint32_t modifier() const { return smp.header.attribute_modifier; }
};

MadStatus node_description(const Question& question) {
  if (question.is_set) return MadStatus::unsupported_method_and_attribute;
  question.smp.data = question.node().description;
  return MadStatus::ok;
}

MadStatus node_info(const Question& question) {
  if (question.is_set) return MadStatus::unsupported_method_and_attribute;
  NodeInfo info = question.node().info;
  info.local_port = question.place.port;
  if (!question.node().is_switch()) info.port_guid = port_guid(question.node(), question.place.port);
  question.smp.data = encode_data(info);
  return MadStatus::ok;
}

// What a manager may write of SwitchInfo. PortStateChange is cleared by a one.
void write_switch_info(SwitchInfo& info, const SwitchInfo& wanted) {
  info.linear_top = wanted.linear_top;
  info.default_port = wanted.default_port;
  info.default_multicast_primary_port = wanted.default_multicast_primary_port;
  info.default_multicast_not_primary_port = wanted.default_multicast_not_primary_port;
  info.life_time = wanted.life_time;
  info.multicast_top = wanted.multicast_top;
  if (wanted.port_state_change) info.port_state_change = false;
}

MadStatus switch_info(const Question& question) {
  Node& node = question.node();
  if (!node.is_switch()) return MadStatus::unsupported_method_and_attribute;
  if (question.is_set) write_switch_info(node.switch_info, decode_data<SwitchInfo>(question.smp.data));
  question.smp.data = encode_data(node.switch_info);
  return MadStatus::ok;
}

// The first GUID is the hardware's.
MadStatus guid_info(const Question& question) {
  if (question.modifier() != 0) return MadStatus::invalid_field;
  GuidBlock& guids = question.node().guids;
  if (question.is_set) {
    const Guid own = guids[0];
    guids = decode_guids(question.smp.data);
    guids[0] = own;
  }
  GuidBlock shown = guids;
  if (!question.node().is_switch()) shown[0] = port_guid(question.node(), question.place.port);
  question.smp.data = encode_block(shown);
  return MadStatus::ok;
}

MadStatus port_info(const Question& question) {
  const Node& node = question.node();
  std::uint32_t number = port_of_port_info(question.modifier());
  if (number == 0 && !node.is_switch()) number = question.place.port;
  if (!node.has_port(number)) return MadStatus::invalid_field;
  const PortPlace place{question.place.node, static_cast<PortNumber>(number)};
  MadStatus status = MadStatus::ok;
  if (question.is_set)
    status = write_port_info(question.nodes, place, decode_data<PortInfo>(question.smp.data));
  PortInfo info = port_at(question.nodes, place).info;
  if (node.is_switch()) info.local_port = question.place.port;
  // A one in ClientReregister is for the port; it is not kept.
  const Port& managed = node.managed(question.place.port);
  if (managed.info.m_key_protection == 1 && question.smp.m_key != managed.info.m_key) info.m_key = 0;
  question.smp.data = encode_data(info);
  return status;
}

MadStatus pkey_table(const Question& question) {
  Node& node = question.node();
  const std::uint32_t number =
      node.is_switch() ? port_of_pkeys(question.modifier()) : std::uint32_t{question.place.port};
  const bool exists = node.has_port(number) && block_of_pkeys(question.modifier()) < kPkeyBlocks;
  if (!exists) return MadStatus::invalid_field;
  auto& pkeys = node.ports[number].pkeys;
  if (question.is_set) pkeys = decode_words(question.smp.data);
  question.smp.data = encode_block(pkeys);
  return MadStatus::ok;
}

MadStatus sl_to_vl(const Question& question) {
  Node& node = question.node();
  const std::uint32_t output =
      node.is_switch() ? output_of_sl_to_vl(question.modifier()) : std::uint32_t{question.place.port};
  const std::uint32_t input = node.is_switch() ? input_of_sl_to_vl(question.modifier()) : 0;
  if (!node.has_port(output) || (node.is_switch() && !node.has_port(input))) return MadStatus::invalid_field;
  const auto from = static_cast<PortNumber>(input);
  const auto to = static_cast<PortNumber>(output);
  if (question.is_set) {
    SmpData table{};
    std::copy_n(question.smp.data.begin(), kSlToVlBytes, table.begin());
    node.ports[to].sl_to_vl[from] = table;
  }
  question.smp.data = sl_to_vl_of(node, from, to);
  return MadStatus::ok;
}

MadStatus vl_arbitration(const Question& question) {
  Node& node = question.node();
  const std::uint32_t number =
      node.is_switch() ? port_of_arbitration(question.modifier()) : std::uint32_t{question.place.port};
  const std::uint32_t part = part_of_arbitration(question.modifier());
  if (!node.has_port(number) || part == 0 || part > kArbitrationParts) return MadStatus::invalid_field;
  SmpData& table = node.ports[number].arbitration[part - 1];
  if (question.is_set) table = question.smp.data;
  question.smp.data = table;
  return MadStatus::ok;
}

MadStatus linear_forwarding(const Question& question) {
  Node& node = question.node();
  if (!node.is_switch()) return MadStatus::unsupported_method_and_attribute;
  const std::size_t first = question.modifier() * kLidsOfBlock;
  if (question.modifier() >= kLinearCapacity / kLidsOfBlock) return MadStatus::invalid_field;
  if (question.is_set) {
    if (node.linear.size() < first + kLidsOfBlock) node.linear.resize(first + kLidsOfBlock, kNoRoute);
    for (std::size_t i = 0; i < kLidsOfBlock; ++i)
      node.linear[first + i] = std::to_integer<std::uint8_t>(question.smp.data[i]);
  }
  question.smp.data = linear_block(node.linear, question.modifier());
  return MadStatus::ok;
}

// Beyond the switch's ports the masks are zero.
MadStatus multicast_forwarding(const Question& question) {
  Node& node = question.node();
  if (!node.is_switch()) return MadStatus::unsupported_method_and_attribute;
  const std::uint32_t block = block_of_groups(question.modifier());
  const std::uint32_t position = position_of_groups(question.modifier());
  if (block >= kMulticastCapacity / kGroupsOfBlock) return MadStatus::invalid_field;
  if (position * kPortsOfPosition > node.info.ports) {
    question.smp.data = SmpData{};
    return MadStatus::ok;
  }
  if (question.is_set) node.multicast[{position, block}] = question.smp.data;
  const auto found = node.multicast.find({position, block});
  question.smp.data = found != node.multicast.end() ? found->second : SmpData{};
  return MadStatus::ok;
}

// Empty: no attribute of the hardware's.
std::optional<MadStatus> answer_attribute(const Question& question) {
  switch (static_cast<SubnetAttribute>(question.smp.header.attribute.value)) {
    case SubnetAttribute::node_description:
      return node_description(question);
    case SubnetAttribute::node_info:
      return node_info(question);
    case SubnetAttribute::switch_info:
      return switch_info(question);
    case SubnetAttribute::guid_info:
      return guid_info(question);
    case SubnetAttribute::port_info:
      return port_info(question);
    case SubnetAttribute::pkey_table:
      return pkey_table(question);
    case SubnetAttribute::sl_to_vl:
      return sl_to_vl(question);
    case SubnetAttribute::vl_arbitration:
      return vl_arbitration(question);
    case SubnetAttribute::linear_forwarding:
      return linear_forwarding(question);
    case SubnetAttribute::multicast_forwarding:
      return multicast_forwarding(question);
    case SubnetAttribute::notice:
    case SubnetAttribute::sm_info:
      break;
  }
  return {};
}

}  // namespace

Verdict answer(Nodes& nodes, PortPlace place, Smp& smp, std::chrono::nanoseconds now) {
  const Method method = smp.header.method;
  Node& node = nodes[place.node];
  // Not protected by the M_Key, as a Set is: opensm's TrapRepress has that of the trap, which is none.
  if (method == Method::trap_repress) {
    renew_lease(node.managed(place.port), smp);
    return repress(node, smp) ? Verdict::taken : Verdict::not_mine;
  }
  if (method != Method::get && method != Method::set) return Verdict::not_mine;
  const auto attribute = static_cast<SubnetAttribute>(smp.header.attribute.value);
  if (attribute == SubnetAttribute::sm_info || attribute == SubnetAttribute::notice) return Verdict::not_mine;
  const bool is_set = method == Method::set;
  if (!passes_m_key(node, place.port, smp, now)) return Verdict::refused;
  const auto status = answer_attribute({nodes, place, smp, is_set});
  if (is_set) ++node.revision;
  smp.header.method = Method::get_response;
  smp.header.status = status.value_or(MadStatus::unsupported_method_and_attribute);
  smp.is_returning = smp.is_directed();
  return Verdict::answered;
}

}  // namespace urnic::subnet
