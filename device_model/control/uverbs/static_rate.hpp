// The static rate of an address vector (IBTA 9.11): a sender on a fast link spares a receiver on a slow one.
#pragma once

#include <cstdint>

#include "device_model/abi/control.hpp"
#include "device_model/control/fabric/port_record.hpp"

namespace urnic::control {

// How fast packets for `address` may leave an InfiniBand port, in 1000 bits of data a second. 0: as fast as
// the port sends. The address says so, or its rate is not below the port's, or no link has such a rate.
std::uint32_t static_rate_kbps(const PortRecord& port, const abi::AddressVector& address);

}  // namespace urnic::control
