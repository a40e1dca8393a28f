#include "device_model/control/fabric/partition_table.hpp"

#include "device_model/subnet/network.hpp"
#include "device_model/transport/partition_key.hpp"

namespace urnic::control {

std::optional<wire::Pkey> pkey_at(const Fabric& fabric, const ServedDevice& device, std::uint16_t index) {
  if (!device.adapter) return index == 0 ? std::optional(wire::Pkey{}) : std::nullopt;
  const auto& pkeys = fabric.subnet().node(*device.adapter).ports[1].pkeys;
  if (index >= pkeys.size() || pkeys[index] == 0) return {};
  return wire::Pkey{pkeys[index]};
}

std::optional<std::uint16_t> pkey_index(const Fabric& fabric, const ServedDevice& device, wire::Pkey pkey) {
  if (!device.adapter) return std::uint16_t{0};
  const auto& pkeys = fabric.subnet().node(*device.adapter).ports[1].pkeys;
  std::optional<std::uint16_t> limited;
  for (std::size_t i = 0; i < pkeys.size(); ++i) {
    if (!transport::is_same_partition({pkeys[i]}, pkey)) continue;
    if (transport::is_full_member({pkeys[i]})) return static_cast<std::uint16_t>(i);
    if (!limited) limited = static_cast<std::uint16_t>(i);
  }
  return limited;
}

}  // namespace urnic::control
