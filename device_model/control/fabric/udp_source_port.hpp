// The UDP source port of a flow of packets.
#pragma once

#include <cstdint>

#include "wire/identifiers.hpp"

namespace urnic::control {

inline constexpr std::uint32_t kFlowLabelMask = 0xFFFFF;

// A connection's UDP source port: from the flow label, or, if that is 0, from the two QPNs, so that a
// connection has one path through the network and different connections have different paths (IBTA A17.3.2.1,
// A17.9.4; the kernel's rdma_get_udp_sport returns the same).
std::uint16_t udp_source_port(std::uint32_t flow_label, wire::Qpn own, wire::Qpn destination);

}  // namespace urnic::control
