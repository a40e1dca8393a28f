// Where a program positions the /proc/self/mem that it hands over. Only files of proc can be there, so a
// device process in another PID namespace, in another container, knows the file by that
// (device_model/memory/descriptor_facts.hpp). Accesses give their own addresses.
#pragma once

#include <cstdint>
#include <limits>

namespace urnic::abi {

inline constexpr std::int64_t kMemFilePosition = std::numeric_limits<std::int64_t>::min();

}  // namespace urnic::abi
