// An address of this process that came as a number, as the device process and /proc give them.
#pragma once

#include <cstdint>

namespace urnic::provider {

inline char* pointer_to(std::uint64_t address) { return reinterpret_cast<char*>(address); }

}  // namespace urnic::provider
