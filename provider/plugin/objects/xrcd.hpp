// The provider's XRC domain: a handle for the SRQs and QPs that are made in it.
#pragma once

#include <cstdint>

#include "provider/rdmav34.hpp"

namespace urnic::provider {

inline rdmav34::Xrcd& xrcd_of(ibv_xrcd* xrcd) { return *reinterpret_cast<rdmav34::Xrcd*>(xrcd); }

}  // namespace urnic::provider
