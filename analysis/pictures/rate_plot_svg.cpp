#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "analysis/pictures/plot_area.hpp"
#include "analysis/pictures/rate_plot.hpp"
#include "analysis/pictures/svg_document.hpp"

namespace urnic::analysis {
namespace {

constexpr int kTitle = 60;    // two lines above a plot's marks
constexpr int kMarkRow = 12;  // each kind of mark has a row of its own between title and area
constexpr int kRateLegend = 34;

constexpr std::string_view kRateShapes =
    ".axis{stroke-width:1}.rate{fill:none;stroke-width:1.6}.mark{fill:none;stroke-width:1.6}";
constexpr std::string_view kRateColours =
    ".axis{stroke:$text}.rate{stroke:$sent}.notification{stroke:$nak}.lost{stroke:$lost}"
    ".retransmitted{stroke:$again}";

// How an event is drawn: a path that begins in the middle of its row.
struct EventStyle {
  RateEvent event;
  const char* css_class;
  const char* name;
  const char* path;
};

constexpr std::array kEventStyles{
    EventStyle{RateEvent::notification, "notification", "congestion notification", "m-4 -4h8l-4 7z"},
    EventStyle{RateEvent::lost, "lost", "lost", "m-3.5 -3.5l7 7m0 -7l-7 7"},
    EventStyle{RateEvent::retransmitted, "retransmitted", "sent again", "m-4 3l4 -7l4 7z"},
};

// A unit in which all rates of a picture are told.
struct RateUnit {
  const char* name;
  double bits;
};

RateUnit rate_unit(double highest) {
  if (highest < 1e6) return {"kbit/s", 1e3};
  if (highest < 1e9) return {"Mbit/s", 1e6};
  return {"Gbit/s", 1e9};
}

double highest_rate(const RatePlot& plot) {
  double highest = 0;
  for (const RateFlow& flow : plot.flows)
    highest = std::max(highest, *std::max_element(flow.rates.begin(), flow.rates.end()));
  return highest;
}

std::size_t count_events(const RateFlow& flow, RateEvent event) {
  return static_cast<std::size_t>(std::count_if(
      flow.marks.begin(), flow.marks.end(), [event](const RateMark& mark) { return mark.event == event; }));
}

std::size_t count_events(const RatePlot& plot, RateEvent event) {
  std::size_t all = 0;
  for (const RateFlow& flow : plot.flows) all += count_events(flow, event);
  return all;
}

// Of the kinds that no flow has there is no row.
std::vector<EventStyle> styles_of(const RatePlot& plot) {
  std::vector<EventStyle> styles;
  std::copy_if(kEventStyles.begin(), kEventStyles.end(), std::back_inserter(styles),
               [&plot](const EventStyle& style) { return count_events(plot, style.event) != 0; });
  return styles;
}

int height_of(const std::vector<EventStyle>& styles) { return kMarkRow * static_cast<int>(styles.size()); }

class SvgRates {
 public:
  SvgRates(const RatePlot& plot, const RateFlow& flow, const PlotStyle& style, RateUnit unit, int offset)
      : plot_(plot),
        flow_(flow),
        unit_(unit),
        styles_(styles_of(plot)),
        rows_(offset + kTitle),
        area_(std::max(style.width, PlotStyle::kNarrowest), rows_ + height_of(styles_),
              style.height - kTitle - height_of(styles_) - PlotArea::kBottom, plot.begin, plot.end(),
              highest_rate(plot) / unit.bits) {}

  std::string draw() const {
    std::string text = title() + area_.axes(unit_.name, 4) + rates();
    int row = rows_;
    for (const EventStyle& style : styles_) {
      text += marks(style, row);
      row += kMarkRow;
    }
    return text;
  }

 private:
  std::string title() const {
    const double seconds = static_cast<double>(plot_.end() - plot_.begin) / 1e9;
    std::string text = fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{} to {}</text>\n",
                                   PlotArea::kLeft, rows_ - 30, svg_text(flow_.from), svg_text(flow_.to));
    text += fmt::format(
        "<text class=\"faint\" x=\"{}\" y=\"{}\">{:.4g} {} in the mean, {} notifications, {} lost, {} sent "
        "again</text>\n",
        PlotArea::kLeft, rows_ - 13, static_cast<double>(flow_.bytes) * 8 / seconds / unit_.bits, unit_.name,
        count_events(flow_, RateEvent::notification), count_events(flow_, RateEvent::lost),
        count_events(flow_, RateEvent::retransmitted));
    return text;
  }

  // As a staircase: a step is the mean of an interval.
  std::string rates() const {
    std::string path = fmt::format("M{:.1f} {:.1f}", area_.x(area_.begin()), area_.y(0));
    std::int64_t time = plot_.begin;
    for (const double rate : flow_.rates) {
      time += plot_.interval;
      path += fmt::format("V{:.1f}H{:.1f}", area_.y(rate / unit_.bits), area_.x(static_cast<double>(time)));
    }
    return fmt::format("<path class=\"rate\" d=\"{}\"><title>rate</title></path>\n", path);
  }

  // Marks on the same pixel are drawn once.
  std::string marks(const EventStyle& style, int row) const {
    std::set<long> drawn;
    std::string path;
    for (const RateMark& event : flow_.marks) {
      const double x = area_.x(static_cast<double>(event.time));
      if (event.event != style.event || !drawn.insert(std::lround(x)).second) continue;
      path += fmt::format("M{:.1f} {}{}", x, row, style.path);
    }
    if (path.empty()) return {};
    return fmt::format("<path class=\"mark {}\" d=\"{}\"><title>{}</title></path>\n", style.css_class, path,
                       style.name);
  }

  const RatePlot& plot_;
  const RateFlow& flow_;
  RateUnit unit_;
  std::vector<EventStyle> styles_;
  int rows_;  // where the rows of marks begin
  PlotArea area_;
};

std::string rate_legend(const RatePlot& plot) {
  std::string text;
  double x = PlotArea::kLeft;
  const auto add = [&](const std::string& sample, const std::string& name) {
    text += sample + fmt::format("<text x=\"{:.0f}\" y=\"22\">{}</text>\n", x + 14, name);
    x += 40 + 6.6 * static_cast<double>(name.size());
  };
  add(fmt::format("<path class=\"rate\" d=\"M{:.0f} 18h16\"/>", x - 8),
      "rate, mean of " + time_text(plot.interval));
  for (const EventStyle& style : styles_of(plot))
    add(fmt::format("<path class=\"mark {}\" d=\"M{:.0f} 18{}\"/>", style.css_class, x, style.path),
        style.name);
  return text;
}

}  // namespace

std::string draw_svg(const RatePlot& plot, const PlotStyle& style) {
  const int width = std::max(style.width, PlotStyle::kNarrowest);
  const int height =
      kRateLegend + style.height * static_cast<int>(std::max<std::size_t>(plot.flows.size(), 1));
  const std::string title = fmt::format("Rates of {} flows over time", plot.flows.size());
  const std::string description = fmt::format(
      "A line for each flow shows how many bits of its frames were sent in a second. Marks show {} "
      "congestion "
      "notifications, {} lost packets, {} that were sent again.",
      count_events(plot, RateEvent::notification), count_events(plot, RateEvent::lost),
      count_events(plot, RateEvent::retransmitted));
  SvgDocument document(width, height, title, description, kRateShapes, kRateColours);
  const RateUnit unit = rate_unit(highest_rate(plot));
  document.add(rate_legend(plot));
  int offset = kRateLegend;
  for (const RateFlow& flow : plot.flows) {
    document.add(SvgRates(plot, flow, style, unit, offset).draw());
    offset += style.height;
  }
  return document.finish();
}

}  // namespace urnic::analysis
