// What all commands that create memory regions share.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

// Rights that every region may have, as ibv_access_flags. Optional rights are accepted and ignored, as
// ibv_reg_mr(3) allows: this device never reorders, even with relaxed ordering.
bool are_known_rights(std::uint32_t access, std::uint32_t known);

// IBTA 10.6.3.1, ibv_reg_mr(3): remote writing requires local writing.
bool rights_agree(std::uint32_t access);

// A new region in the PD with that handle, counted and charged; null if there is no such PD. Throws
// std::system_error with ENOMEM at the device's or the program's limit.
std::unique_ptr<MemoryRegion> begin_region(const Session& session, std::uint32_t pd);

// Installs the region, complete except for its key, and fills in the reply. 0, or ENOMEM if no key is left.
int add_region(Session& session, std::unique_ptr<MemoryRegion> region, abi::RegisterMrReply& reply);

}  // namespace urnic::control
