// A port's table of P_Keys: what queue pairs and datagrams name by an index.
#pragma once

#include <cstdint>
#include <optional>

#include "device_model/control/fabric/fabric.hpp"
#include "wire/identifiers.hpp"

namespace urnic::control {

// The device's P_Key at that place of its table; empty: there is none. On Ethernet the table is the default
// partition.
std::optional<wire::Pkey> pkey_at(const Fabric& fabric, const ServedDevice& device, std::uint16_t index);

// The place of the partition in the table; full membership rather than limited. Empty: it is not there. On
// Ethernet 0, whatever is asked for.
std::optional<std::uint16_t> pkey_index(const Fabric& fabric, const ServedDevice& device, wire::Pkey pkey);

}  // namespace urnic::control
