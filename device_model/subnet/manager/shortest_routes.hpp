// The linear forwarding tables of all switches of a fabric: shortest ways, whatever its shape. Nothing in the
// built-in fabric holds a packet while another waits, so a ring of routes is no deadlock.
#pragma once

#include <cstdint>
#include <vector>

#include "device_model/subnet/links.hpp"
#include "wire/mad/identifiers.hpp"

namespace urnic::subnet {

// By LID, up to the largest that the fabric has: the port by which a packet leaves, 0 for the switch itself,
// kNoRoute where no link leads there.
using LinearTable = std::vector<std::uint8_t>;

// By node; an adapter's table is empty. `lids` are those of the nodes, by node (LMC 0). Of several shortest
// ways a LID gets the one whose port has the fewest LIDs so far; of those the lowest port. So the same fabric
// always gets the same tables.
std::vector<LinearTable> shortest_routes(const Nodes& nodes, const std::vector<wire::mad::Lid>& lids);

}  // namespace urnic::subnet
