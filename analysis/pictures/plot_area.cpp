#include "analysis/pictures/plot_area.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace urnic::analysis {

PlotArea::PlotArea(int picture_width, int top, int height, std::int64_t begin, std::int64_t end,
                   double highest)
    : width_(picture_width - kLeft - kRight),
      top_(top),
      height_(height),
      begin_(static_cast<double>(begin)),
      end_(static_cast<double>(std::max(end, begin + 1))),
      highest_(highest > 0 ? highest : 1),
      unit_(time_unit(end)) {}

std::string PlotArea::axes(std::string_view what, int lines) const {
  std::string text = value_axis(lines) + time_axis();
  text +=
      fmt::format("<path class=\"axis\" fill=\"none\" d=\"M{} {}v{}h{}\"/>\n", kLeft, top_, height_, width_);
  text += fmt::format("<text class=\"faint end\" x=\"{}\" y=\"{}\">time in {}</text>", right(), bottom() + 36,
                      unit_.name);
  text += fmt::format("<text class=\"faint\" x=\"{}\" y=\"{}\">{}</text>\n", 16, top_ - 14, what);
  return text;
}

std::string PlotArea::value_axis(int lines) const {
  std::string text;
  for (const double value : round_numbers(0, highest_, lines)) {
    text += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>", kLeft,
                        right(), y(value), y(value));
    text += fmt::format("<text class=\"end\" x=\"{}\" y=\"{:.1f}\">{:.10g}</text>\n", kLeft - 8, y(value) + 4,
                        value);
  }
  return text;
}

std::string PlotArea::time_axis() const {
  std::string text;
  for (const double time : round_numbers(begin_ / unit_.nanoseconds, end_ / unit_.nanoseconds, 8)) {
    const double at = x(time * unit_.nanoseconds);
    text += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", at,
                        top_, bottom());
    text +=
        fmt::format("<text class=\"middle\" x=\"{:.1f}\" y=\"{}\">{:g}</text>\n", at, bottom() + 18, time);
  }
  return text;
}

}  // namespace urnic::analysis
