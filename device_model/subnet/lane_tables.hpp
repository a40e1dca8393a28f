// SLtoVL tables: in which virtual lane a packet of a service level leaves by a port (IBTA 14.2.5.8).
#pragma once

#include "device_model/subnet/node.hpp"
#include "wire/mad/smp.hpp"

namespace urnic::subnet {

// For packets that come in at `input` and leave by `output`; an adapter has one table, with input 0. As a
// manager has written it; until then each SL has the lane of its number, and begins anew behind the last one.
wire::mad::SmpData sl_to_vl_of(const Node& node, PortNumber input, PortNumber output);

// The lane in such a table.
std::uint8_t lane_of(const wire::mad::SmpData& sl_to_vl, unsigned service_level);

}  // namespace urnic::subnet
