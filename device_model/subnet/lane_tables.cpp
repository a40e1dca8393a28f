#include "device_model/subnet/lane_tables.hpp"

#include "device_model/subnet/link_ability.hpp"
#include "wire/mad/subnet_tables.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

// The specification leaves open what is there before a manager writes. So it is in switches that one can buy,
// and managers whose routes rely on lanes (opensm's lash) have them without writing tables.
SmpData usual_sl_to_vl(const PortInfo& info) {
  const unsigned lanes = kDataLanes.at(info.operational_vls - 1u);
  SmpData table{};
  for (unsigned sl = 0; sl < 2 * kSlToVlBytes; sl += 2)
    table[sl / 2] = static_cast<std::byte>((sl % lanes) << 4 | (sl + 1) % lanes);
  return table;
}

}  // namespace

SmpData sl_to_vl_of(const Node& node, PortNumber input, PortNumber output) {
  const Port& port = node.ports[output];
  const auto written = port.sl_to_vl.find(input);
  return written != port.sl_to_vl.end() ? written->second : usual_sl_to_vl(port.info);
}

// The SL with an even number is in the higher half of a byte.
std::uint8_t lane_of(const SmpData& sl_to_vl, unsigned service_level) {
  const auto both = std::to_integer<unsigned>(sl_to_vl[service_level / 2]);
  return static_cast<std::uint8_t>(service_level % 2 == 0 ? both >> 4 : both & 15u);
}

}  // namespace urnic::subnet
