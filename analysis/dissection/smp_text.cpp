#include "analysis/dissection/smp_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/dissection/field.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::analysis {
namespace {

using wire::mad::SubnetAttribute;

std::string attribute_text(wire::mad::AttributeId attribute) {
  switch (static_cast<SubnetAttribute>(attribute.value)) {
    case SubnetAttribute::notice:
      return "Notice";
    case SubnetAttribute::node_description:
      return "NodeDescription";
    case SubnetAttribute::node_info:
      return "NodeInfo";
    case SubnetAttribute::switch_info:
      return "SwitchInfo";
    case SubnetAttribute::guid_info:
      return "GUIDInfo";
    case SubnetAttribute::port_info:
      return "PortInfo";
    case SubnetAttribute::pkey_table:
      return "P_KeyTable";
    case SubnetAttribute::sl_to_vl:
      return "SLtoVLMappingTable";
    case SubnetAttribute::vl_arbitration:
      return "VLArbitrationTable";
    case SubnetAttribute::linear_forwarding:
      return "LinearForwardingTable";
    case SubnetAttribute::multicast_forwarding:
      return "MulticastForwardingTable";
    case SubnetAttribute::sm_info:
      return "SMInfo";
  }
  return fmt::format("attribute {:#x}", attribute.value);
}

std::string method_text(wire::mad::Method method) {
  const auto value = static_cast<std::uint8_t>(method);
  const auto field = find_field("mad.method");
  const std::string name = field ? field->field->meaning(value) : std::string{};
  return name.empty() ? fmt::format("method {:#x}", value) : name;
}

std::string route_text(const wire::mad::Smp& smp) {
  std::string path;
  // More hops than there are places are nobody's.
  const std::size_t hops = std::min<std::size_t>(smp.hop_count, wire::mad::kMostHops);
  for (std::size_t hop = 1; hop <= hops; ++hop)
    path += fmt::format("{}{}", path.empty() ? "" : ",", std::to_integer<unsigned>(smp.initial_path[hop]));
  return fmt::format(" Path={} Hop={}{}", path.empty() ? "none" : path, smp.hop_pointer,
                     smp.is_returning ? " Returning" : "");
}

}  // namespace

std::string smp_text(std::span<const std::byte> mad) {
  wire::mad::Smp smp;
  if (decode(mad, smp) != wire::mad::MadError::none) return {};
  std::string text =
      fmt::format("{} {}", method_text(smp.header.method), attribute_text(smp.header.attribute));
  if (smp.header.attribute_modifier != 0)
    text += fmt::format(" Modifier={:#x}", smp.header.attribute_modifier);
  if (smp.header.status != wire::mad::MadStatus::ok)
    text += fmt::format(" Status={:#x}", static_cast<unsigned>(smp.header.status));
  return smp.is_directed() ? text + route_text(smp) : text;
}

}  // namespace urnic::analysis
