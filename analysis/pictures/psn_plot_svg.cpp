#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "analysis/pictures/plot_area.hpp"
#include "analysis/pictures/psn_plot.hpp"
#include "analysis/pictures/svg_document.hpp"

namespace urnic::analysis {
namespace {

constexpr int kLeft = PlotArea::kLeft;
constexpr int kPlotTop = 44;
constexpr int kLegend = 34;

constexpr std::string_view kPlotShapes =
    ".axis{stroke-width:1}.acknowledged{fill:none;stroke-width:1.4}.mark{fill:none;stroke-width:1.6}"
    ".sent,.response,.reported{stroke-width:3.2;stroke-linecap:round}.reported{stroke-width:2.2}.lost{stroke-"
    "width:2.2}";
constexpr std::string_view kPlotColours =
    ".axis{stroke:$text}.acknowledged{stroke:$ack}.sent{stroke:$sent}.retransmitted{stroke:$again}"
    ".lost{stroke:$lost}.response{stroke:$response}.nak{stroke:$nak}.reported{stroke:$response}";

// How a kind of point is drawn: a path that begins at the point.
struct Mark {
  PointKind kind;
  const char* style;
  const char* name;
  const char* path;
};

// What matters most is drawn last. Each kind has a shape of its own.
constexpr std::array kMarks{
    Mark{PointKind::reported, "reported", "reported by a selective ACK", "h0"},
    Mark{PointKind::sent, "sent", "sent", "h0"},
    Mark{PointKind::response, "response", "READ response", "h0"},
    Mark{PointKind::retransmitted, "retransmitted", "sent again", "m-4 3l4 -7l4 7z"},
    Mark{PointKind::nak, "nak", "NAK", "m-4 0l4 -4l4 4l-4 4z"},
    Mark{PointKind::lost, "lost", "lost", "m-4 -4l8 8m0 -8l-8 8"},
};

class SvgPlot {
 public:
  SvgPlot(const PsnPlot& plot, const PlotStyle& style, int offset)
      : plot_(plot),
        area_(std::max(style.width, PlotStyle::kNarrowest), offset + kPlotTop,
              style.height - kPlotTop - PlotArea::kBottom, plot.begin, plot.end,
              static_cast<double>(plot.psns)) {}

  std::string draw() const {
    std::string text =
        fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{} to {}, PSNs from {}</text>\n", kLeft,
                    area_.top() - 14, svg_text(plot_.from), svg_text(plot_.to), plot_.first_psn);
    text += area_.axes("PSN", 6);
    text += acknowledged();
    for (const Mark& mark : kMarks) text += points(mark);
    return text;
  }

 private:
  double x(double time) const { return area_.x(time); }
  double y(double psn) const { return area_.y(psn); }

  // As a staircase; steps within a pixel are one.
  std::string acknowledged() const {
    if (plot_.acknowledged.empty()) return {};
    std::string path = fmt::format("M{:.1f} {:.1f}", x(area_.begin()), y(0));
    std::int64_t highest = 0;
    long last_pixel = -1;
    for (const AcknowledgedStep& step : plot_.acknowledged) {
      if (step.psn <= highest) continue;
      highest = step.psn;
      const long pixel = std::lround(x(static_cast<double>(step.time)) * 2);
      if (pixel == last_pixel && &step != &plot_.acknowledged.back()) continue;
      last_pixel = pixel;
      path +=
          fmt::format("H{:.1f}V{:.1f}", x(static_cast<double>(step.time)), y(static_cast<double>(highest)));
    }
    return fmt::format("<path class=\"acknowledged\" d=\"{}H{:.1f}\"><title>acknowledged</title></path>\n",
                       path, x(area_.end()));
  }

  std::string points(const Mark& mark) const {
    std::unordered_set<std::uint64_t> drawn;
    std::string path;
    for (const PlotPoint& point : plot_.points) {
      if (point.kind != mark.kind) continue;
      const double px = x(static_cast<double>(point.time));
      const double py = y(static_cast<double>(point.psn) + 0.5);
      const auto pixel =
          static_cast<std::uint64_t>(std::lround(px)) << 32 | static_cast<std::uint32_t>(std::lround(py));
      if (drawn.insert(pixel).second) path += fmt::format("M{:.1f} {:.1f}{}", px, py, mark.path);
    }
    if (path.empty()) return {};
    return fmt::format("<path class=\"mark {}\" d=\"{}\"><title>{}</title></path>\n", mark.style, path,
                       mark.name);
  }

  const PsnPlot& plot_;
  PlotArea area_;
};

std::size_t count(const std::vector<PsnPlot>& plots, PointKind kind) {
  std::size_t all = 0;
  for (const PsnPlot& plot : plots)
    all += static_cast<std::size_t>(
        std::count_if(plot.points.begin(), plot.points.end(),
                      [kind](const PlotPoint& point) { return point.kind == kind; }));
  return all;
}

std::string legend(const std::vector<PsnPlot>& plots) {
  std::string text;
  double x = kLeft;
  const auto add = [&](const std::string& sample, std::string_view name) {
    text += sample + fmt::format("<text x=\"{:.0f}\" y=\"22\">{}</text>\n", x + 14, name);
    x += 40 + 6.6 * static_cast<double>(name.size());
  };
  for (const Mark& mark : kMarks)
    if (count(plots, mark.kind) != 0)
      add(fmt::format("<path class=\"mark {}\" d=\"M{:.0f} 18{}\"/>", mark.style, x, mark.path), mark.name);
  add(fmt::format("<path class=\"acknowledged\" d=\"M{:.0f} 18h16\"/>", x - 8), "acknowledged");
  return text;
}

}  // namespace

std::string draw_svg(const std::vector<PsnPlot>& plots, const PlotStyle& style) {
  const int width = std::max(style.width, PlotStyle::kNarrowest);
  const int height = kLegend + style.height * static_cast<int>(std::max<std::size_t>(plots.size(), 1));
  const std::string title = plots.empty()
                                ? "PSN over time: no requests"
                                : fmt::format("PSN over time between {} and {}", plots[0].from, plots[0].to);
  const std::string description = fmt::format(
      "Each mark is a packet, at its time and its packet sequence number: {} sent, {} sent again, {} lost, "
      "{} READ "
      "responses, {} NAKs. A line shows what is acknowledged.",
      count(plots, PointKind::sent), count(plots, PointKind::retransmitted), count(plots, PointKind::lost),
      count(plots, PointKind::response), count(plots, PointKind::nak));
  SvgDocument document(width, height, title, description, kPlotShapes, kPlotColours);
  document.add(legend(plots));
  for (std::size_t i = 0; i < plots.size(); ++i)
    document.add(SvgPlot(plots[i], style, kLegend + style.height * static_cast<int>(i)).draw());
  return document.finish();
}

}  // namespace urnic::analysis
