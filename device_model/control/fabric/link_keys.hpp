// The settings of a link by their names in files and commands (docs/configuration.md, [[link]]).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device_model/link/link_settings.hpp"

namespace urnic::control {

struct LinkKey {
  std::string_view name;
  double lowest;
  double highest;
  bool whole;  // a whole number
  std::string_view allowed;
  void (*set)(link::LinkSettings&, double);
  double (*get)(const link::LinkSettings&);
  double least_above_zero = 0;
  bool flag = false;  // true or false, as 1 or 0

  bool accepts(double value) const;
};

std::span<const LinkKey> link_keys();
// Null if no key has this name.
const LinkKey* find_link_key(std::string_view name);

// Two settings that cannot stand together although each is allowed.
struct LinkContradiction {
  std::string_view key;
  std::string_view allowed;
};
std::optional<LinkContradiction> contradiction(const link::LinkSettings& settings);

}  // namespace urnic::control
