// What a manager may write of a port (IBTA 14.2.5.6), and the steps of its state that it may ask for.
#pragma once

#include "device_model/subnet/links.hpp"
#include "wire/mad/mad_header.hpp"
#include "wire/mad/subnet_attributes.hpp"

namespace urnic::subnet {

// Writes `wanted` to the port, or nothing at all: invalid_field if a value or a step is not allowed.
wire::mad::MadStatus write_port_info(Nodes& nodes, PortPlace place, const wire::mad::PortInfo& wanted);

}  // namespace urnic::subnet
