#include "device_model/control/fabric/built_in_subnet.hpp"

#include <chrono>

#include "device_model/control/fabric/planned_devices.hpp"

namespace urnic::control {

std::unique_ptr<subnet::Network> make_subnet(const subnet::FabricPlan& plan,
                                             const std::vector<std::unique_ptr<ServedDevice>>& devices) {
  for (const auto& device : devices)
    if (is_infiniband(device->settings)) device->adapter = device->settings.fabric_node;
  auto network = subnet::build(plan);
  network->set_clock([] { return std::chrono::steady_clock::now().time_since_epoch(); });
  return network;
}

}  // namespace urnic::control
