// Counters of steering rules: which of its values the program reads at which index.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace urnic::provider {

struct Counters {
  static constexpr std::uint32_t kMostPoints = 32;  // indices from 0
  enum class Point : std::uint8_t { none, packets, bytes };

  ibv_counters verbs;  // first: a pointer to it is one to the whole
  std::uint32_t handle;
  Point points[kMostPoints];
};

inline Counters& counters_of(ibv_counters* counters) { return *reinterpret_cast<Counters*>(counters); }

}  // namespace urnic::provider
