// What all commands have in common that make memory regions, whatever the memory.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

// Rights that every kind of region may have, as ibv_access_flags. Those of the optional range are known, too,
// and ignored: a device may (ibv_reg_mr(3)), and this one never reorders what relaxed ordering allows it to.
bool are_known_rights(std::uint32_t access, std::uint32_t known);

// IBTA 10.6.3.1, ibv_reg_mr(3): whom others may let write, the owner must be able to write.
bool rights_agree(std::uint32_t access);

// A region in the PD of that handle, counted and paid for; null if there is no such PD. Throws
// std::system_error with ENOMEM at the device's limit or the program's.
std::unique_ptr<MemoryRegion> begin_region(const Session& session, std::uint32_t pd);

// Installs the region, which has all but its key, and answers with it. 0, or ENOMEM if there is no key left.
int add_region(Session& session, std::unique_ptr<MemoryRegion> region, abi::RegisterMrReply& reply);

}  // namespace urnic::control
