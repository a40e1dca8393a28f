// Counters of steering rules, and which value the program reads at each index.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace urnic::provider {

struct Counters {
  static constexpr std::uint32_t kMostPoints = 32;  // indices from 0
  enum class Point : std::uint8_t { none, packets, bytes };

  ibv_counters verbs;  // first: the library hands out its address
  std::uint32_t handle;
  Point points[kMostPoints];
};

inline Counters& counters_of(ibv_counters* counters) { return *reinterpret_cast<Counters*>(counters); }

}  // namespace urnic::provider
