#include "device_model/control/fabric/built_in_subnet.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "device_model/control/fabric/limits.hpp"

namespace urnic::control {
namespace {

constexpr std::size_t kLeastSwitchPorts = 8;
constexpr std::size_t kMostSwitchPorts = 254;
// Behind the GUIDs of devices, which come from MAC addresses that begin with 02:75:72:6e.
constexpr wire::mad::Guid kSwitchGuid{0x0075'72FF'FE00'0001};

wire::mad::Guid guid_of(const ServedDevice& device) {
  wire::mad::Guid guid;
  for (const std::uint8_t byte : device.node_guid) guid.value = guid.value << 8 | byte;
  return guid;
}

// As in sysfs.
std::string description_of(const ServedDevice& device) {
  char host[65] = {};
  gethostname(host, sizeof host - 1);
  return fmt::format("{} {}", host, device.settings.name);
}

}  // namespace

std::unique_ptr<subnet::Network> make_subnet(const std::vector<std::unique_ptr<ServedDevice>>& devices) {
  auto network = std::make_unique<subnet::Network>();
  std::vector<ServedDevice*> adapters;
  for (const auto& device : devices)
    if (device->settings.link_layer == LinkLayer::infiniband) adapters.push_back(device.get());
  if (adapters.empty()) return network;
  const std::size_t ports = std::clamp(adapters.size(), kLeastSwitchPorts, kMostSwitchPorts);
  const subnet::NodeIndex hub =
      network->add(subnet::make_switch(kSwitchGuid, "urnic switch", static_cast<subnet::PortNumber>(ports)));
  for (ServedDevice* const device : adapters) {
    const auto mtu = static_cast<std::uint8_t>(limits::mtu_code(device->settings.mtu));
    device->adapter = network->add(subnet::make_adapter(guid_of(*device), description_of(*device), mtu));
    network->connect({*device->adapter, 1}, {hub, static_cast<subnet::PortNumber>(*device->adapter)});
  }
  return network;
}

}  // namespace urnic::control
