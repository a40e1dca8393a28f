// Whether a thread that waits for the device process should sleep at once (device_model/abi/short_wait.hpp).
#pragma once

#include "device_model/abi/short_wait.hpp"

namespace urnic::kernel {

// The threads of this process share it.
inline constinit abi::Crowd crowd;

}  // namespace urnic::kernel
