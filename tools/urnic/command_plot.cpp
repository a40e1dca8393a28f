// urnic plot: the PSNs of a connection over time as SVG.
#include <memory>
#include <string>
#include <vector>

#include "analysis/pictures/psn_plot.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/picture_options.hpp"
#include "tools/urnic/progress.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct PlotOptions {
  PictureOptions picture;
  int width = analysis::PlotStyle{}.width;
};

std::string draw(const PlotOptions& options, const PicturedCapture& capture) {
  const Progress progress("drawing");
  const std::vector<analysis::PsnPlot> plots =
      psn_plots(*capture.tracker, capture.connection, capture.choice);
  if (plots.empty()) throw Failure("the connection has no request between --from and --to");
  analysis::PlotStyle style;
  style.width = options.width;
  return draw_svg(plots, style);
}

void plot(const PlotOptions& options) {
  const PicturedCapture capture = read_for_picture(options.picture);
  write_picture(options.picture, draw(options, capture));
}

}  // namespace

void add_plot(Command& urnic) {
  auto options = std::make_shared<PlotOptions>();
  Command command =
      urnic.add_subcommand("plot", "Draw the PSNs of a connection over time, with losses, as SVG");
  add_picture_options(command, options->picture);
  command.add_option("--width", options->width, "Pixels").type_name("N").between(1, 10000);
  command.footer(
      "Sent, sent again, lost, acknowledged: one plot for each end that sends requests (docs/pictures.md).\n"
      "Example: urnic plot lossy.pcapng -o lossy.svg");
  command.callback([options] { plot(*options); });
}

}  // namespace urnic::cli
