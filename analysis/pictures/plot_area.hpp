// Where the values of a plot over time lie in a picture, and the axes around them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/pictures/time_scale.hpp"

namespace urnic::analysis {

// Times are nanoseconds since the capture's first packet; values begin with 0.
class PlotArea {
 public:
  // Room beside the area: numbers of the value axis, and nothing much.
  static constexpr int kLeft = 84;
  static constexpr int kRight = 20;
  // Room below it, for the numbers of the time axis.
  static constexpr int kBottom = 46;

  // `picture_width` is of the whole picture, `top` and `height` are of the area: pixels.
  PlotArea(int picture_width, int top, int height, std::int64_t begin, std::int64_t end, double highest);

  int top() const { return top_; }
  int right() const { return kLeft + width_; }
  int bottom() const { return top_ + height_; }
  double begin() const { return begin_; }
  double end() const { return end_; }

  // The pixel of a time, and of a value.
  double x(double time) const { return kLeft + (time - begin_) / (end_ - begin_) * width_; }
  double y(double value) const { return top_ + height_ - value / highest_ * height_; }

  // Lines at about `lines` round values, axes, and what the value axis counts. The classes "grid", "axis",
  // "end", "middle" and "faint" are the document's.
  std::string axes(std::string_view what, int lines) const;

 private:
  std::string value_axis(int lines) const;
  std::string time_axis() const;

  int width_;
  int top_;
  int height_;
  double begin_;
  double end_;
  double highest_;
  TimeUnit unit_;
};

}  // namespace urnic::analysis
