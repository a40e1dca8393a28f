// A ladder in a terminal or a text file.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analysis/pictures/ladder.hpp"

namespace urnic::analysis {

struct TextStyle {
  static constexpr int kNarrowest = 60;

  int width = 80;  // columns; at least kNarrowest are taken
  bool utf8 = true;
  bool colour = false;  // by escape sequences (ECMA-48 8.3.117)
};

// Calls `line` with each line, without its end.
void draw_text(const Ladder& ladder, const TextStyle& style,
               const std::function<void(std::string_view)>& line);

}  // namespace urnic::analysis
