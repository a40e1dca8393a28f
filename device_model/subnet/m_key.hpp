// The key of a port (IBTA 14.2.4): who may read and write what the port's manager has written, and for how
// long a key protects whose owner is silent.
#pragma once

#include <chrono>

#include "device_model/subnet/node.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::subnet {

// Whether the SMP, a Get or a Set that has come to the port `arrival`, may be carried out. One that may not
// is counted in M_KeyViolations, told by trap 256, and has the lease begin. `now`: since any fixed time.
bool passes_m_key(Node& node, PortNumber arrival, const wire::mad::Smp& smp, std::chrono::nanoseconds now);

// The owner of the port's key has sent something else: the lease, if one runs, ends nothing.
void renew_lease(Port& port, const wire::mad::Smp& smp);

}  // namespace urnic::subnet
