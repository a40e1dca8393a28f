// Where an arriving request's PSN stands (IBTA 9.7.4.1.2, figure of valid, duplicate and invalid PSN
// regions).
#pragma once

#include <cstdint>

#include "wire/psn.hpp"

namespace urnic::transport {

enum class PsnRegion : std::uint8_t {
  expected,
  duplicate,       // the half of the number space before the expected PSN
  out_of_sequence  // the half after it
};

PsnRegion psn_region(wire::Psn psn, wire::Psn expected);

}  // namespace urnic::transport
