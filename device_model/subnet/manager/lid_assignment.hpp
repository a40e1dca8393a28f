// Which LIDs the built-in manager gives to a fabric's nodes: one for each adapter's port and for each switch.
#pragma once

#include <vector>

#include "device_model/subnet/links.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::subnet {

// By node. A LID that a node has already stays, unless an earlier node has it, too; the others get the lowest
// ones that are free, from 1 on. Nothing is written. There are at most 0xBFFF nodes: those beyond get LID 0.
std::vector<wire::mad::Lid> assign_lids(const Nodes& nodes);

}  // namespace urnic::subnet
