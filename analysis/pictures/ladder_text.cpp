#include "analysis/pictures/ladder_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/pictures/time_scale.hpp"

namespace urnic::analysis {
namespace {

constexpr int kTimeColumns = 12;
// With more columns, remarks stand beside the ladder.
constexpr int kRemarksBeside = 110;
constexpr int kWidestRungs = 56;

struct Marks {
  const char* life;
  const char* from_left;  // the lifeline where an arrow begins
  const char* from_right;
  const char* right_head;
  const char* left_head;
  const char* cross;
  const char* line;
  const char* heavy_line;  // of retransmissions
  const char* cut;         // the end of a text that does not fit
};

constexpr Marks kUtf8Marks{"│", "├", "┤", "▶", "◀", "✕", "─", "═", "…"};
constexpr Marks kAsciiMarks{"|", "|", "|", ">", "<", "x", "-", "=", "~"};

const char* colour_of(const LadderArrow& arrow) {
  if (arrow.is_lost) return "\x1b[31m";
  switch (arrow.kind) {
    case ArrowKind::retransmission:
      return "\x1b[33m";
    case ArrowKind::nak:
      return "\x1b[35m";
    case ArrowKind::acknowledgement:
      return "\x1b[2m";
    case ArrowKind::request:
    case ArrowKind::response:
    case ArrowKind::other:
      break;
  }
  return "";
}

class TextLadder {
 public:
  TextLadder(const Ladder& ladder, const TextStyle& style) : ladder_(ladder), style_(style) {
    const int width = std::max(style.width, TextStyle::kNarrowest);
    const int inner = width - kTimeColumns - 3;  // two lifelines, and a column that stays free
    beside_ = width >= kRemarksBeside;
    rungs_ = static_cast<std::size_t>(std::min(inner, kWidestRungs));
    remarks_ = beside_ ? static_cast<std::size_t>(inner) - rungs_ - 2 : 0;
    // Narrow ladders take all columns, since the remarks are on the rungs.
    if (!beside_) rungs_ = static_cast<std::size_t>(inner);
    unit_ = time_unit(ladder.arrows.empty() ? 0 : ladder.arrows.back().sent);
  }

  void draw(const std::function<void(std::string_view)>& line) const {
    line(head());
    for (const LadderArrow& arrow : ladder_.arrows) line(rung(arrow));
    if (ladder_.left_out != 0)
      line(fmt::format("{} more packets: choose some with --from, --to", ladder_.left_out));
  }

 private:
  const Marks& marks() const { return style_.utf8 ? kUtf8Marks : kAsciiMarks; }

  std::string head() const {
    const std::size_t ends = ladder_.left.size() + ladder_.right.size();
    const std::size_t columns = rungs_ + 2;
    const std::size_t between = columns > ends + 1 ? columns - ends : 1;
    return fmt::format("{:>{}} {}{:{}}{}", "", kTimeColumns - 1, ladder_.left, "", between, ladder_.right);
  }

  // Texts are ASCII but for what a comment in the file brings.
  std::string fitting(std::string text, std::size_t columns) const {
    if (text.size() <= columns) return text;
    std::size_t end = columns == 0 ? 0 : columns - 1;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    return text + marks().cut;
  }

  static std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(
        text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
  }

  std::string line_of(const LadderArrow& arrow, std::size_t columns) const {
    const char* const mark = arrow.kind == ArrowKind::retransmission ? marks().heavy_line : marks().line;
    std::string text;
    for (std::size_t i = 0; i < columns; ++i) text += mark;
    return text;
  }

  std::string rung(const LadderArrow& arrow) const {
    std::string label = arrow.label;
    if (!beside_ && !arrow.remark.empty()) label += ": " + arrow.remark;
    label = fitting(label, rungs_ - 8);
    // A lost packet gets four fifths of the way, but its label is whole.
    const std::size_t least = columns_of(label) + 6;
    const std::size_t reach = arrow.is_lost ? std::max(rungs_ * 4 / 5, std::min(least, rungs_)) : rungs_;
    const std::string rest(rungs_ - reach, ' ');
    const std::string line = line_of(arrow, reach - columns_of(label) - 4);
    const std::string stub = line_of(arrow, 1);
    const char* const cross = marks().cross;
    std::string text;
    if (arrow.from_left) {
      text = fmt::format("{}{} {} {}{}{}{}", marks().from_left, stub, label, line,
                         arrow.is_lost ? cross : marks().right_head, rest, marks().life);
    } else {
      text = fmt::format("{}{}{}{} {} {}{}", marks().life, rest, arrow.is_lost ? cross : marks().left_head,
                         line, label, stub, marks().from_right);
    }
    if (beside_ && !arrow.remark.empty()) text += " " + fitting(arrow.remark, remarks_);
    const std::string time = fmt::format("{:>{}} ", time_text(arrow.sent, unit_), kTimeColumns - 1);
    const char* const colour = style_.colour ? colour_of(arrow) : "";
    return *colour == '\0' ? time + text : time + colour + text + "\x1b[0m";
  }

  const Ladder& ladder_;
  const TextStyle& style_;
  bool beside_;
  std::size_t rungs_;
  std::size_t remarks_;
  TimeUnit unit_;
};

}  // namespace

void draw_text(const Ladder& ladder, const TextStyle& style,
               const std::function<void(std::string_view)>& line) {
  TextLadder(ladder, style).draw(line);
}

}  // namespace urnic::analysis
