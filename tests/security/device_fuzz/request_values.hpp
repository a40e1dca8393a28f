// Values that are valid most of the time.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>

#include "tests/security/device_fuzz/chance.hpp"

namespace urnic::device_fuzz {

inline constexpr std::size_t kMostObjects = 24;  // of one kind that a program remembers

// Any ibv_access_flags that regions have.
inline std::uint32_t access(Chance& chance) {
  constexpr std::uint32_t kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                                 IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
  return chance.once_in(4) ? chance.below(256) : kAll;
}

// A size of a queue; seldom `most`.
inline std::uint32_t size(Chance& chance, std::uint32_t most) {
  return chance.once_in(200) ? most : chance.from(1, 64);
}

}  // namespace urnic::device_fuzz
