#include "device_model/subnet/m_key.hpp"

#include "device_model/subnet/notices.hpp"

namespace urnic::subnet {
namespace {

using namespace wire::mad;

bool has_key(const Port& port, const Smp& smp) {
  return port.info.m_key == 0 || port.info.m_key == smp.m_key;
}

// The key stays. But everybody may read it now, and so become the port's manager.
void look_at_lease(Node& node, Port& port, std::chrono::nanoseconds now) {
  if (!port.lease_end || now < *port.lease_end) return;
  port.lease_end.reset();
  port.info.m_key_protection = 0;
  ++node.revision;
}

// A lease that runs is not prolonged by further strangers; a period of 0 never ends.
void begin_lease(Port& port, std::chrono::nanoseconds now) {
  if (port.lease_end || port.info.m_key_lease == 0) return;
  port.lease_end = now + std::chrono::seconds{port.info.m_key_lease};
}

}  // namespace

void renew_lease(Port& port, const Smp& smp) {
  if (has_key(port, smp)) port.lease_end.reset();
}

// Without a key everybody may manage a port. With one, a Set needs it, and a Get does from protection 2 on.
bool passes_m_key(Node& node, PortNumber arrival, const Smp& smp, std::chrono::nanoseconds now) {
  Port& port = node.managed(arrival);
  look_at_lease(node, port, now);
  renew_lease(port, smp);
  if (has_key(port, smp)) return true;
  if (smp.header.method == Method::get && port.info.m_key_protection < 2) return true;
  if (port.info.m_key_violations != 0xFFFF) ++port.info.m_key_violations;
  begin_lease(port, now);
  raise_wrong_m_key(node, arrival, smp);
  return false;
}

}  // namespace urnic::subnet
