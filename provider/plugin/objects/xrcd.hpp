// The provider's XRC domain: a handle for the SRQs and QPs that are made in it.
#pragma once

#include <cstdint>

#include "provider/private_abi.hpp"

namespace urnic::provider {

inline private_abi::Xrcd& xrcd_of(ibv_xrcd* xrcd) { return *reinterpret_cast<private_abi::Xrcd*>(xrcd); }

}  // namespace urnic::provider
