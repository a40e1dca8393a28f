#include "device_model/control/fabric/port_events.hpp"

namespace urnic::control {

ManagedPort managed_port_of(const subnet::Node& adapter) {
  const subnet::Port& port = adapter.ports[1];
  const wire::mad::PortInfo& info = port.info;
  return {.is_active = info.state == wire::mad::PortState::active,
          .lid = info.lid,
          .lmc = info.lmc,
          .manager_lid = info.manager_lid,
          .manager_sl = info.manager_sl,
          .pkeys = port.pkeys,
          .reregistrations = adapter.reregistrations};
}

std::vector<engine::DeviceEvent> events_between(const ManagedPort& before, const ManagedPort& after) {
  using engine::DeviceEvent;
  std::vector<DeviceEvent> events;
  if (before.is_active && !after.is_active) events.push_back(DeviceEvent::port_error);
  if (before.lid != after.lid || before.lmc != after.lmc) events.push_back(DeviceEvent::lid_change);
  if (before.manager_lid != after.manager_lid || before.manager_sl != after.manager_sl)
    events.push_back(DeviceEvent::manager_change);
  if (before.pkeys != after.pkeys) events.push_back(DeviceEvent::pkey_change);
  if (before.reregistrations != after.reregistrations) events.push_back(DeviceEvent::client_reregister);
  if (!before.is_active && after.is_active) events.push_back(DeviceEvent::port_active);
  return events;
}

}  // namespace urnic::control
