// urnic ladder: the packets of a connection as arrows between its two ends, as text or as SVG.
#include <fmt/format.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "analysis/pictures/ladder.hpp"
#include "analysis/pictures/ladder_svg.hpp"
#include "analysis/pictures/ladder_text.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/picture_options.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

// A longer ladder is a picture that nobody looks at: its rows are 20 pixels high.
constexpr std::size_t kMostSvgArrows = 1000;

struct LadderOptions {
  PictureOptions picture;
  bool svg = false;
  bool text = false;
  bool ascii = false;
  int width = 0;
};

bool is_terminal(const LadderOptions& options) {
  const bool to_stdout = options.picture.output.empty() || options.picture.output == "-";
  return to_stdout && isatty(STDOUT_FILENO) != 0;
}

int columns(const LadderOptions& options) {
  constexpr int kColumnsOfFiles = 100;
  winsize size{};
  if (options.width != 0) return options.width;
  if (is_terminal(options) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col != 0)
    return size.ws_col;
  return kColumnsOfFiles;
}

bool is_utf8() {
  std::setlocale(LC_CTYPE, "");
  const bool utf8 = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  std::setlocale(LC_CTYPE, "C");
  return utf8;
}

std::string text_picture(const LadderOptions& options, const analysis::Ladder& ladder) {
  analysis::TextStyle style;
  style.width = columns(options);
  style.utf8 = !options.ascii && is_utf8();
  style.colour = is_terminal(options) && std::getenv("NO_COLOR") == nullptr;
  std::string picture;
  draw_text(ladder, style, [&](std::string_view line) { picture.append(line).append("\n"); });
  return picture;
}

std::string svg_picture(const LadderOptions& options, const analysis::Ladder& ladder) {
  analysis::SvgLadderStyle style;
  if (options.width != 0) style.width = options.width;
  return draw_svg(ladder, style);
}

void ladder(const LadderOptions& options) {
  const bool svg = options.svg || (!options.text && options.picture.output.ends_with(".svg"));
  PicturedCapture capture = read_for_picture(options.picture);
  if (svg) capture.choice.most = kMostSvgArrows;
  const analysis::Ladder ladder = ladder_of(*capture.tracker, capture.connection, capture.choice);
  if (ladder.arrows.empty()) throw Failure("the connection has no packet between --from and --to");
  if (ladder.left_out != 0) {
    fmt::print(stderr, "urnic: {} packets do not fit into the picture: choose fewer with --from and --to\n",
               ladder.left_out);
  }
  write_picture(options.picture, svg ? svg_picture(options, ladder) : text_picture(options, ladder));
}

}  // namespace

void add_ladder(Command& urnic) {
  auto options = std::make_shared<LadderOptions>();
  Command command =
      urnic.add_subcommand("ladder", "Draw the packets of a connection as arrows between its two ends");
  add_picture_options(command, options->picture);
  command.add_flag("--svg", options->svg, "As SVG; also if the output's name ends in .svg");
  command.add_flag("--text", options->text, "As text, which is the default");
  command.add_flag("--ascii", options->ascii, "As text in ASCII");
  command.option("--text").excludes(command.option("--svg"));
  command
      .add_option("--width", options->width,
                  "Columns of text, or pixels of SVG; without it the terminal's columns")
      .type_name("N")
      .between(1, 10000);
  command.footer(
      "Lost packets end in a cross, retransmissions have thick lines; docs/pictures.md explains the rest.\n"
      "Example: urnic ladder lossy.pcapng --qp 0x12 --to 1ms\n"
      "Example: urnic ladder lossy.pcapng -o lossy.svg");
  command.callback([options] { ladder(*options); });
}

}  // namespace urnic::cli
