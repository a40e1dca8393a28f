// The settings of congestion control by their names in files and commands (docs/congestion.md).
#pragma once

#include <span>
#include <string_view>

#include "device_model/transport/congestion_settings.hpp"

namespace urnic::control {

struct CongestionKey {
  std::string_view name;
  double lowest;
  double highest;
  bool whole;  // a whole number
  std::string_view allowed;
  void (*set)(transport::CongestionSettings&, double);
  double (*get)(const transport::CongestionSettings&);
  bool flag = false;  // true or false, as 1 or 0

  bool accepts(double value) const;
};

std::span<const CongestionKey> congestion_keys();
// Null if no key has this name.
const CongestionKey* find_congestion_key(std::string_view name);

}  // namespace urnic::control
