#include "device_model/control/fabric/udp_wire.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace urnic::control {

std::unique_ptr<UdpWire> open_udp_wire(const DeviceSettings& settings, std::uint32_t number) {
  std::vector<link::LocalInterface> interfaces;
  std::vector<link::UdpAddress> addresses;
  for (const wire::Gid& gid : settings.gids) {
    const auto found = link::interface_of(gid);
    if (!found)
      throw std::runtime_error(
          fmt::format("{}: no interface of this machine has the address {}", settings.name, to_text(gid)));
    interfaces.push_back(*found);
    addresses.push_back({gid, found->index});
  }
  link::LocalInterface interface = interfaces.front();
  for (const link::LocalInterface& other : interfaces) interface.mtu = std::min(interface.mtu, other.mtu);
  if (link::path_mtu_for(interface.mtu) == 0)
    throw std::runtime_error(fmt::format("{}: interface {} has an MTU of {}, too small for RoCEv2",
                                         settings.name, interface.name, interface.mtu));
  return std::unique_ptr<UdpWire>(
      new UdpWire{std::move(interface), std::move(interfaces), settings.gids,
                  link::UdpPort(settings.mac, number, addresses, settings.udp_segmentation)});
}

}  // namespace urnic::control
