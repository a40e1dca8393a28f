// A field's row in docs/fields.md.
#pragma once

#include <string>

#include "analysis/dissection/field.hpp"

namespace urnic::analysis::test {

inline std::string documented(const Field& field) {
  const std::string bits = field.width == kToTheEnd ? "" : std::to_string(field.width);
  const std::string wireshark = *field.wireshark == '\0' ? "" : std::string("`") + field.wireshark + "`";
  return std::string("| `") + field.name + "` | " + field.label + " | " + bits + " | " + wireshark + " |";
}

}  // namespace urnic::analysis::test
