#include "analysis/pictures/ladder_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/pictures/svg_document.hpp"
#include "analysis/pictures/time_scale.hpp"

namespace urnic::analysis {
namespace {

constexpr double kLadderTop = 70;
constexpr double kBetweenSends = 20;  // so that labels do not meet
constexpr double kBetweenEvents = 5;  // of an arrival and what is next
constexpr double kUnseenSlope = 12;   // of an arrow whose arrival was not seen
constexpr double kLostAt = 0.72;      // of the way
constexpr double kPauseRoom = 26;
constexpr double kPauseFactor = 40;  // a pause is that much longer than most intervals
constexpr int kTimeColumn = 96;
constexpr int kLegendHeight = 46;

constexpr std::string_view kLadderShapes =
    ".life{stroke-width:1.5}.pause{stroke-width:3;stroke-dasharray:3 4}.arrow line{stroke-width:1.6}"
    ".arrow text{font-size:11.5px;stroke:none}.arrow text.label{paint-order:stroke;stroke-width:4px}"
    ".arrow text.remark{font-size:11px}.retransmission line{stroke-width:3}.nak line{stroke-dasharray:7 3}"
    ".lost line{stroke-dasharray:3 3}.cross{stroke-width:2.4;fill:none}";
constexpr std::string_view kLadderColours =
    ".life{stroke:$text}.pause{stroke:$back}.arrow text.label{stroke:$back}.arrow text.remark{fill:$faint}"
    ".request{stroke:$sent;fill:$sent}.retransmission{stroke:$again;fill:$again}"
    ".acknowledgement{stroke:$ack;fill:$ack}.nak{stroke:$nak;fill:$nak}"
    ".response{stroke:$response;fill:$response}.other{stroke:$faint;fill:$faint}.arrow .cross{stroke:$lost}";

const char* class_of(ArrowKind kind) {
  switch (kind) {
    case ArrowKind::request:
      return "request";
    case ArrowKind::retransmission:
      return "retransmission";
    case ArrowKind::acknowledgement:
      return "acknowledgement";
    case ArrowKind::nak:
      return "nak";
    case ArrowKind::response:
      return "response";
    case ArrowKind::other:
      break;
  }
  return "other";
}

// Where an arrow begins and ends, in pixels from the top.
struct Span {
  double begin = 0;
  double end = 0;
};

struct Pause {
  double at;
  std::int64_t nanoseconds;
};

// Gives each sending and each arrival its height, in the order of time.
class Heights {
 public:
  explicit Heights(const Ladder& ladder) : spans_(ladder.arrows.size()) {
    std::vector<Event> events;
    for (std::size_t i = 0; i < ladder.arrows.size(); ++i) {
      const LadderArrow& arrow = ladder.arrows[i];
      events.push_back({arrow.sent, i, true});
      if (arrow.arrival_is_seen) events.push_back({arrow.arrived, i, false});
    }
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.time < b.time; });
    const std::int64_t usual = usual_interval(events);
    for (std::size_t i = 0; i < events.size(); ++i) place(ladder, events, i, usual);
    for (std::size_t i = 0; i < ladder.arrows.size(); ++i)
      if (!ladder.arrows[i].arrival_is_seen) spans_[i].end = spans_[i].begin + kUnseenSlope;
    for (const Span& span : spans_) bottom_ = std::max({bottom_, span.begin, span.end});
  }

  const Span& span(std::size_t arrow) const { return spans_[arrow]; }
  const std::vector<Pause>& pauses() const { return pauses_; }
  double bottom() const { return bottom_; }

 private:
  struct Event {
    std::int64_t time;
    std::size_t arrow;
    bool is_sent;
  };

  static std::int64_t usual_interval(const std::vector<Event>& events) {
    std::vector<std::int64_t> intervals;
    for (std::size_t i = 1; i < events.size(); ++i) intervals.push_back(events[i].time - events[i - 1].time);
    if (intervals.empty()) return 1;
    const auto middle = intervals.begin() + static_cast<std::ptrdiff_t>(intervals.size() / 2);
    std::nth_element(intervals.begin(), middle, intervals.end());
    return std::max<std::int64_t>(*middle, 1);
  }

  void place(const Ladder& ladder, const std::vector<Event>& events, std::size_t i, std::int64_t usual) {
    const Event& event = events[i];
    const std::int64_t waited = i == 0 ? 0 : event.time - events[i - 1].time;
    const double ratio = static_cast<double>(waited) / static_cast<double>(usual);
    // While a packet is on its way, its arrow shows the time.
    if (ratio > kPauseFactor && under_way_ == 0) {
      pauses_.push_back({at_ + kPauseRoom * 0.7, waited});
      at_ += kPauseRoom;
    }
    // A longer wait shows as more room, up to three times.
    if (i != 0) at_ += kBetweenEvents * std::clamp(std::log2(1 + ratio), 1.0, 3.0);
    if (event.is_sent) {
      at_ = std::max(at_, last_sent_ + kBetweenSends);
      last_sent_ = at_;
      spans_[event.arrow].begin = at_;
      under_way_ += ladder.arrows[event.arrow].arrival_is_seen ? 1 : 0;
    } else {
      spans_[event.arrow].end = at_;
      --under_way_;
    }
  }

  std::vector<Span> spans_;
  std::vector<Pause> pauses_;
  double at_ = kLadderTop + kLegendHeight;
  double last_sent_ = 0;
  int under_way_ = 0;
  double bottom_ = kLadderTop + kLegendHeight;
};

class SvgLadder {
 public:
  SvgLadder(const Ladder& ladder, const SvgLadderStyle& style)
      : ladder_(ladder), heights_(ladder), width_(std::max(style.width, SvgLadderStyle::kNarrowest)) {
    left_ = kTimeColumn + 14;
    // Remarks need a third of a wide picture, and have no room in a narrow one.
    right_ = width_ >= 720 ? width_ * 0.66 : width_ - 20;
    unit_ = time_unit(ladder.arrows.empty() ? 0 : ladder.arrows.back().sent);
  }

  std::string draw() {
    const int height = static_cast<int>(heights_.bottom()) + 40;
    SvgDocument document(width_, height, title(), description(), kLadderShapes, kLadderColours);
    document.add(legend());
    document.add(lifelines());
    for (std::size_t i = 0; i < ladder_.arrows.size(); ++i) document.add(arrow(i));
    if (ladder_.left_out != 0) {
      document.add(
          fmt::format("<text class=\"faint\" x=\"{}\" y=\"{:.1f}\">{} more packets are left out</text>\n",
                      left_, heights_.bottom() + 30, ladder_.left_out));
    }
    return document.finish();
  }

 private:
  std::string title() const { return fmt::format("Packets between {} and {}", ladder_.left, ladder_.right); }

  std::string description() const {
    std::size_t lost = 0;
    std::size_t again = 0;
    std::size_t naks = 0;
    for (const LadderArrow& arrow : ladder_.arrows) {
      lost += arrow.is_lost ? 1 : 0;
      again += arrow.kind == ArrowKind::retransmission ? 1 : 0;
      naks += arrow.kind == ArrowKind::nak ? 1 : 0;
    }
    return fmt::format(
        "A ladder diagram: time runs down, each arrow is a packet. {} packets, of which {} are lost and {} "
        "are "
        "retransmissions; {} NAKs.",
        ladder_.arrows.size(), lost, again, naks);
  }

  std::string legend() const {
    struct Entry {
      const char* style;
      const char* name;
    };
    constexpr Entry kEntries[] = {{"request", "request"},
                                  {"response", "response"},
                                  {"acknowledgement", "ACK"},
                                  {"nak", "NAK"},
                                  {"retransmission", "retransmission"},
                                  {"request lost", "lost"}};
    std::string text;
    double x = 16;
    for (const Entry& entry : kEntries) {
      text += fmt::format("<g class=\"arrow {}\"><line x1=\"{:.0f}\" y1=\"20\" x2=\"{:.0f}\" y2=\"20\"/>",
                          entry.style, x, x + 30);
      if (std::string_view(entry.name) == "lost") text += cross(x + 30, 20);
      text += fmt::format("</g><text x=\"{:.0f}\" y=\"24\">{}</text>\n", x + 38, entry.name);
      x += 56 + 7.5 * static_cast<double>(std::string_view(entry.name).size());
    }
    return text;
  }

  std::string lifelines() const {
    const double top = kLadderTop + 8;
    const double bottom = heights_.bottom() + 14;
    std::string text = fmt::format(
        "<text class=\"title middle\" x=\"{}\" y=\"{}\">{}</text><text class=\"title middle\" x=\"{:.0f}\" "
        "y=\"{}\">{}</text>\n",
        left_ + 40, kLadderTop, svg_text(ladder_.left), right_ - 10, kLadderTop, svg_text(ladder_.right));
    for (const double x : {left_, right_})
      text += fmt::format("<line class=\"life\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n",
                          x, top, bottom);
    for (const Pause& pause : heights_.pauses()) {
      for (const double x : {left_, right_})
        text += fmt::format(
            "<line class=\"pause\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/>\n", x,
            pause.at - 8, pause.at + 8);
      text += fmt::format("<text class=\"faint middle\" x=\"{:.1f}\" y=\"{:.1f}\">{} pass</text>\n",
                          (left_ + right_) / 2, pause.at + 4, time_text(pause.nanoseconds));
    }
    return text;
  }

  static std::string cross(double x, double y) {
    return fmt::format("<path class=\"cross\" d=\"M{:.1f} {:.1f}l10 10m0 -10l-10 10\"/>", x - 5, y - 5);
  }

  static std::string head(double x, double y, double along, double down) {
    const double length = std::hypot(along, down);
    const double ux = along / length;
    const double uy = down / length;
    return fmt::format("<path stroke=\"none\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z\"/>", x, y,
                       x - 9 * ux - 4 * uy, y - 9 * uy + 4 * ux, x - 9 * ux + 4 * uy, y - 9 * uy - 4 * ux);
  }

  std::string arrow(std::size_t index) const {
    const LadderArrow& it = ladder_.arrows[index];
    const Span& span = heights_.span(index);
    const double from = it.from_left ? left_ : right_;
    const double whole_way = it.from_left ? right_ - left_ : left_ - right_;
    const double part = it.is_lost ? kLostAt : 1;
    const double along = whole_way * part;
    const double down = (span.end - span.begin) * part;
    const double x = from + along;
    const double y = span.begin + down;
    std::string text = fmt::format("<g class=\"arrow {}{}\"><title>{}</title>", class_of(it.kind),
                                   it.is_lost ? " lost" : "", svg_text(hover_text(it)));
    text += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>", from, span.begin,
                        x, y);
    text += it.is_lost ? cross(x, y) : head(x, y, along, down);
    text +=
        fmt::format("<text class=\"label{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", it.from_left ? "" : " end",
                    from + (it.from_left ? 10 : -10), span.begin - 3, svg_text(it.label));
    text += fmt::format("<text class=\"faint end\" x=\"{}\" y=\"{:.1f}\">{}</text>", kTimeColumn,
                        span.begin + 4, time_text(it.sent, unit_));
    if (!it.remark.empty() && right_ < width_ - 60)
      text += fmt::format("<text class=\"remark\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", right_ + 14,
                          span.begin + 4, svg_text(shortened(it.remark)));
    return text + "</g>\n";
  }

  std::string hover_text(const LadderArrow& arrow) const {
    std::string text = fmt::format("{}, sent at {}", arrow.label, time_text(arrow.sent, unit_));
    if (arrow.arrival_is_seen) text += fmt::format(", on its way {}", time_text(arrow.arrived - arrow.sent));
    if (!arrow.remark.empty()) text += ": " + arrow.remark;
    return text;
  }

  // What fits beside the ladder; all of it is in the hover text.
  std::string shortened(const std::string& remark) const {
    const auto fitting = static_cast<std::size_t>((width_ - right_ - 20) / 6.4);
    return remark.size() <= fitting ? remark : remark.substr(0, fitting - 3) + "...";
  }

  const Ladder& ladder_;
  Heights heights_;
  int width_;
  double left_;
  double right_;
  TimeUnit unit_;
};

}  // namespace

std::string draw_svg(const Ladder& ladder, const SvgLadderStyle& style) {
  return SvgLadder(ladder, style).draw();
}

}  // namespace urnic::analysis
