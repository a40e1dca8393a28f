// A ladder as SVG.
#pragma once

#include <string>

#include "analysis/pictures/ladder.hpp"

namespace urnic::analysis {

struct SvgLadderStyle {
  static constexpr int kNarrowest = 480;
  int width = 900;  // pixels; at least kNarrowest are taken
};

// Time runs down, not to scale: packets have room between them, and long pauses are cut short and marked.
std::string draw_svg(const Ladder& ladder, const SvgLadderStyle& style);

}  // namespace urnic::analysis
