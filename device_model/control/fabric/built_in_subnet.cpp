#include "device_model/control/fabric/built_in_subnet.hpp"

#include "device_model/control/fabric/planned_devices.hpp"

namespace urnic::control {

std::unique_ptr<subnet::Network> make_subnet(const subnet::FabricPlan& plan,
                                             const std::vector<std::unique_ptr<ServedDevice>>& devices) {
  for (const auto& device : devices)
    if (is_infiniband(device->settings)) device->adapter = device->settings.fabric_node;
  return subnet::build(plan);
}

}  // namespace urnic::control
