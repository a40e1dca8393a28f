// What all commands that create memory regions share.
#pragma once

#include <cstdint>
#include <memory>

#include "device_model/control/uverbs/session.hpp"

namespace urnic::control {

// Rights of a region, as ibv_access_flags; `served` are those that its kind has. 0 or the errno of Linux's
// ib_check_mr_access: EOPNOTSUPP for rights to flush, which the device has not; EINVAL for others that are
// not served, and for remote writing without local writing (IBTA 10.6.3.1). Optional rights are accepted and
// ignored, as ibv_reg_mr(3) allows: this device never reorders, even with relaxed ordering.
int check_rights(std::uint32_t access, std::uint32_t served);

// A new region in the PD with that handle, counted and charged; null if there is no such PD. Throws
// std::system_error with ENOMEM at the device's or the program's limit.
std::unique_ptr<MemoryRegion> begin_region(const Session& session, std::uint32_t pd);

// Installs the region, complete except for its key, and fills in the reply. 0, or ENOMEM if no key is left.
int add_region(Session& session, std::unique_ptr<MemoryRegion> region, abi::RegisterMrReply& reply);

}  // namespace urnic::control
