#include "device_model/fault/mad_pattern.hpp"

#include <array>

#include "wire/mad/mad_names.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::fault {
namespace {

using wire::mad::ManagementClass;

constexpr std::array kNamedClasses{ManagementClass::subnet_lid_routed, ManagementClass::subnet_administration,
                                   ManagementClass::performance};
constexpr wire::Opcode kDatagram(wire::Service::ud, wire::Operation::send_only);

std::optional<MadPattern> pattern_of_class(ManagementClass management_class, std::string_view name) {
  const std::string_view prefix = wire::mad::class_prefix(management_class);
  if (!name.starts_with(prefix)) return {};
  name.remove_prefix(prefix.size());
  const std::size_t bracket = name.find('(');
  const auto method = wire::mad::method_named(name.substr(0, bracket));
  if (!method) return {};
  if (bracket == std::string_view::npos) return MadPattern{management_class, *method, {}};
  if (!name.ends_with(')')) return {};
  const auto attribute =
      wire::mad::attribute_named(management_class, name.substr(bracket + 1, name.size() - bracket - 2));
  if (!attribute) return {};
  return MadPattern{management_class, *method, attribute};
}

}  // namespace

bool MadPattern::matches(const wire::mad::MadHeader& header) const {
  const bool is_class =
      header.management_class == management_class ||
      (is_subnet_management(header.management_class) && is_subnet_management(management_class));
  return is_class && header.method == method && (!attribute || header.attribute == *attribute);
}

std::optional<MadPattern> mad_pattern(std::string_view name) {
  for (const ManagementClass each : kNamedClasses)
    if (const auto found = pattern_of_class(each, name)) return found;
  return {};
}

std::optional<wire::mad::MadHeader> mad_header_of(const link::PacketAtLink& packet, const PacketView& view) {
  constexpr std::uint32_t kGeneralServices = 1;
  if (view.bth.opcode != kDatagram || view.bth.destination.value > kGeneralServices) return {};
  auto mad = packet.frame.payload;
  if (mad.empty()) mad = packet.frame.headers.subspan(view.headers.size());
  if (mad.size() < wire::mad::kMadBytes) return {};
  wire::mad::MadHeader header;
  if (decode(mad.first(wire::mad::kMadBytes), header) != wire::mad::MadError::none) return {};
  return header;
}

}  // namespace urnic::fault
