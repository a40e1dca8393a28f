// urnic plot: the PSNs of a connection, or the rates of all flows, over time as SVG.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "analysis/pictures/psn_plot.hpp"
#include "analysis/pictures/rate_plot.hpp"
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
  bool rate = false;
  std::string interval;  // as people write a time; empty: by itself
};

// Of a flow: many stand below each other.
constexpr int kRateHeight = 250;

std::string draw(const PlotOptions& options, const PicturedCapture& capture) {
  const Progress progress("drawing");
  const std::vector<analysis::PsnPlot> plots =
      psn_plots(*capture.tracker, capture.connection, capture.choice);
  if (plots.empty()) throw Failure("the connection has no request between --from and --to");
  analysis::PlotStyle style;
  style.width = options.width;
  return draw_svg(plots, style);
}

std::string draw_rates(const PlotOptions& options, const PicturedPackets& packets) {
  const Progress progress("drawing");
  analysis::RateChoice choice;
  choice.packets = packets.choice;
  if (!options.interval.empty()) choice.interval = parse_time("--interval", options.interval);
  const analysis::RatePlot plot = rate_plot(*packets.tracker, packets.connections, choice);
  if (plot.flows.empty()) throw Failure("there is no packet with data between --from and --to");
  if (plot.left_out != 0)
    fmt::print(stderr, "urnic: {} flows with fewer bytes are left out; --qp chooses a queue pair's\n",
               plot.left_out);
  return draw_svg(plot, analysis::PlotStyle{.width = options.width, .height = kRateHeight});
}

void plot(const PlotOptions& options) {
  if (options.rate) {
    write_picture(options.picture, draw_rates(options, read_packets_for_picture(options.picture)));
    return;
  }
  if (!options.interval.empty()) throw Failure("--interval needs --rate", exit_usage);
  const PicturedCapture capture = read_for_picture(options.picture);
  write_picture(options.picture, draw(options, capture));
}

}  // namespace

void add_plot(Command& urnic) {
  auto options = std::make_shared<PlotOptions>();
  Command command =
      urnic.add_subcommand("plot", "Draw the PSNs of a connection, or the rates of flows, over time as SVG");
  add_picture_options(command, options->picture);
  command.add_option("--width", options->width, "Pixels").type_name("N").between(1, 10000);
  command.add_flag("--rate", options->rate,
                   "The rate of each flow of data, with losses and congestion notifications");
  command
      .add_option("--interval", options->interval,
                  "With --rate: each step is the mean of so long a time; without it, there are 150 steps")
      .type_name("TIME");
  command.footer(
      "Sent, sent again, lost, acknowledged: one plot for each end that sends requests (docs/pictures.md).\n"
      "With --rate, one plot for each flow from queue pair to queue pair; --qp leaves those of one.\n"
      "Example: urnic plot lossy.pcapng -o lossy.svg\n"
      "Example: urnic plot --rate incast.pcapng -o incast.svg");
  command.callback([options] { plot(*options); });
}

}  // namespace urnic::cli
