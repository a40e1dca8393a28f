#include "device_model/subnet/port_settings.hpp"

#include "device_model/subnet/link_ability.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

// Armed follows Initialize, and Active follows Armed; a port may be told its own state once more. Down is
// always allowed: the link begins anew. Nobody writes Initialize.
bool may_step(PortState from, PortState to) {
  switch (to) {
    case PortState::no_change:
    case PortState::down:
      return true;
    case PortState::armed:
      return from == PortState::initialize || from == PortState::armed;
    case PortState::active:
      return from == PortState::armed || from == PortState::active;
    default:
      return false;
  }
}

bool may_write(PhysicalState state) { return state <= PhysicalState::disabled; }

bool is_allowed(const PortInfo& now, const PortInfo& wanted) {
  return may_step(now.state, wanted.state) && may_write(wanted.physical_state) &&
         wanted.neighbor_mtu <= now.mtu_capacity && wanted.operational_vls <= now.vl_capacity &&
         wanted.lid.value < kFirstMulticastLid && may_enable(now, wanted);
}

// Members of ports that have a LID: an adapter's, and a switch's port 0.
void write_managed(PortInfo& info, const PortInfo& wanted) {
  info.m_key = wanted.m_key;
  info.m_key_protection = wanted.m_key_protection;
  info.m_key_lease = wanted.m_key_lease;
  info.subnet_prefix = wanted.subnet_prefix;
  info.lid = wanted.lid;
  info.lmc = wanted.lmc;
  info.manager_lid = wanted.manager_lid;
  info.manager_sl = wanted.manager_sl;
  info.subnet_timeout = wanted.subnet_timeout;
  info.m_key_violations = wanted.m_key_violations;
  info.pkey_violations = wanted.pkey_violations;
  info.qkey_violations = wanted.qkey_violations;
}

void write_link(PortInfo& info, const PortInfo& wanted) {
  enable(info, wanted);
  if (wanted.neighbor_mtu != 0) info.neighbor_mtu = wanted.neighbor_mtu;
  if (wanted.operational_vls != 0) info.operational_vls = wanted.operational_vls;
  if (wanted.down_default != 0) info.down_default = wanted.down_default;
  info.init_type = wanted.init_type;
  info.vl_high_limit = wanted.vl_high_limit;
  info.vl_stall_count = wanted.vl_stall_count;
  info.head_of_queue_life = wanted.head_of_queue_life;
  info.enforces_inbound = wanted.enforces_inbound;
  info.enforces_outbound = wanted.enforces_outbound;
  info.filters_raw_inbound = wanted.filters_raw_inbound;
  info.filters_raw_outbound = wanted.filters_raw_outbound;
  info.local_physical_errors = wanted.local_physical_errors;
  info.overrun_errors = wanted.overrun_errors;
}

// Port 0 has no link.
void write_state(Nodes& nodes, PortPlace place, const PortInfo& wanted) {
  if (wanted.physical_state == PhysicalState::disabled) return disable(nodes, place);
  if (wanted.physical_state == PhysicalState::polling) poll(nodes, place);
  if (wanted.state == PortState::down) return retrain(nodes, place);
  if (wanted.state != PortState::no_change) port_at(nodes, place).info.state = wanted.state;
}

}  // namespace

MadStatus write_port_info(Nodes& nodes, PortPlace place, const PortInfo& wanted) {
  Port& port = port_at(nodes, place);
  if (!is_allowed(port.info, wanted)) return MadStatus::invalid_field;
  const Node& node = nodes[place.node];
  const bool is_own_port = node.is_switch() && place.port == 0;
  if (wanted.client_reregister) ++nodes[place.node].reregistrations;
  if (!node.is_switch() || is_own_port) write_managed(port.info, wanted);
  write_link(port.info, wanted);
  if (!is_own_port) write_state(nodes, place, wanted);
  return MadStatus::ok;
}

}  // namespace urnic::subnet
