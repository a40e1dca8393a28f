// XRC domains as the provider sees them: a handle, for the SRQs and QPs that are made in one.
#pragma once

#include <cstdint>

#include "provider/rdmav34.hpp"

namespace urnic::provider {

inline rdmav34::Xrcd& xrcd_of(ibv_xrcd* xrcd) { return *reinterpret_cast<rdmav34::Xrcd*>(xrcd); }

}  // namespace urnic::provider
