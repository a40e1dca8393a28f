// congestion_lab: what each congestion control makes of many senders to one line, under virtual time, as
// tables in Markdown on standard output. The same seed gives the same output on every machine.
#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "command_line/command_line.hpp"
#include "tests/unit/congestion/incast_tables.hpp"

using namespace urnic::transport;
using namespace urnic::transport::lab;

namespace {

struct Options {
  std::vector<std::string> tables{"share", "changes", "distance", "loss", "fluid"};
  std::vector<std::string> algorithms;
  std::vector<std::uint32_t> flows{2, 8, 32, 64};
  std::uint32_t mtu = 1024;
  int before_ms = 100;
  int window_ms = 10;
  std::uint32_t ecn_min_bytes = IncastSettings{}.ecn_min_bytes;
  std::uint32_t ecn_max_bytes = IncastSettings{}.ecn_max_bytes;
  double additive_mbps = 1000 * DcqcnSettings{}.additive.gbps();
  double ecn_probability = IncastSettings{}.ecn_probability;
  std::uint64_t seed = 1;
};

TableSettings table_settings(const Options& options) {
  TableSettings settings;
  settings.incast.path_mtu = options.mtu;
  settings.incast.seed = options.seed;
  settings.incast.ecn_min_bytes = options.ecn_min_bytes;
  settings.incast.ecn_max_bytes = options.ecn_max_bytes;
  settings.incast.ecn_probability = options.ecn_probability;
  settings.incast.congestion.dcqcn.additive = SendRate::mbps(options.additive_mbps);
  settings.flows = options.flows;
  settings.algorithms = options.algorithms;
  settings.before = std::chrono::milliseconds(options.before_ms);
  settings.window = std::chrono::milliseconds(options.window_ms);
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  urnic::command_line::CommandLine app(
      "Many senders to one line of 40 Gbit/s with each congestion control, under virtual time, as tables in "
      "Markdown.\n"
      "Example: congestion_lab --table share --flows 2,8");
  Options options;
  app.add_option("--table", options.tables, "Only these")
      .delimiter(',')
      .one_of({"share", "changes", "distance", "loss", "fluid"});
  app.add_option("--algorithm", options.algorithms, "Only these")
      .delimiter(',')
      .one_of({"off", "dcqcn", "dcqcn-steep", "rtt", "rtt-marked", "timely", "timely-150"});
  app.add_option("--flows", options.flows, "Numbers of senders")
      .delimiter(',')
      .between(2, 1000)
      .show_default();
  app.add_option("--mtu", options.mtu, "Path MTU in bytes")
      .one_of({"256", "512", "1024", "2048", "4096"})
      .show_default();
  app.add_option("--before-ms", options.before_ms, "Until flows are taken to have found their shares")
      .between(1, 10'000)
      .show_default();
  app.add_option("--window-ms", options.window_ms, "How long is measured").between(1, 10'000).show_default();
  app.add_option("--ecn-min-bytes", options.ecn_min_bytes, "From here on the port marks packets")
      .show_default();
  app.add_option("--ecn-max-bytes", options.ecn_max_bytes, "Above, it marks each").show_default();
  app.add_option("--ecn-probability", options.ecn_probability, "The share that it marks just below that")
      .between(0.0, 1.0)
      .show_default();
  app.add_option("--dcqcn-additive-mbps", options.additive_mbps, "Additive increase of DCQCN")
      .between(0.0, 40'000.0)
      .show_default();
  app.add_option("--seed", options.seed, "What all chance follows from").show_default();
  if (int status = 0; !app.parse(argc, argv, status)) return status;
  try {
    for (const std::string& table : options.tables) print_table(table, table_settings(options), std::cout);
  } catch (const std::exception& error) {
    std::cerr << "congestion_lab: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
