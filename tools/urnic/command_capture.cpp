// urnic capture: writes every frame of a running device process to a capture file, until Ctrl-C.
#include <fmt/format.h>

#include <csignal>
#include <memory>

#include "json/json.hpp"
#include "tools/urnic/capture_file.hpp"
#include "tools/urnic/capture_options.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/signals.hpp"

namespace urnic::cli {

using command_line::Command;

namespace {

struct CaptureOptions {
  std::string name;
  CaptureRequest request;
  bool json = false;
};

void capture(const CaptureOptions& options) {
  if (options.json && options.request.file == "-")
    throw Failure("--json would write into the capture: give the capture a file", exit_usage);
  const SignalDescriptor stop{SIGINT, SIGTERM, SIGHUP};
  CaptureFile file(connect_or_fail(named_run_directory(options.name)), options.request);
  if (!options.json) fmt::print(stderr, "urnic: capturing to {}; end with Ctrl-C\n", options.request.file);
  const bool asked = file.write_until(stop.get());
  if (options.json) {
    const nlohmann::json result{
        {"file", options.request.file}, {"frames", file.written()}, {"dropped", file.dropped()}};
    fmt::print("{}\n", json_lines(result));
  } else {
    fmt::print(stderr, "urnic: {} frames captured, {} lost\n", file.written(), file.dropped());
  }
  if (!asked) throw Failure("the device process ended; the capture is complete up to then");
}

}  // namespace

void add_capture(Command& urnic) {
  auto options = std::make_shared<CaptureOptions>();
  Command command =
      urnic.add_subcommand("capture", "Write every packet of a running device process to a capture file");
  command
      .add_option(
          "FILE", options->request.file,
          "The capture: FILE.pcapng with an interface for each capture point and comments, all others, and - "
          "for standard output, classic nanosecond pcap")
      .required()
      .suggest("capture");
  command
      .add_option("--device", options->request.device,
                  "Only what this device sends or receives; all: everything, the default")
      .type_name("DEVICE")
      .suggest("device");
  add_points_option(command, options->request.points);
  add_snaplen_option(command, options->request.snaplen);
  command.add_flag(
      "--lrh", options->request.lrh,
      "Packets of InfiniBand begin with their LRH (link type 247), for programs that do not read ERF "
      "(197); Wireshark 4.0 reads ERF only");
  add_name_option(command, options->name);
  command.add_flag("--json", options->json, "Print the numbers of frames as a JSON object");
  command.footer(
      "Example: urnic capture pingpong.pcap, and later: tshark -r pingpong.pcap\n"
      "Example: urnic capture --points dropped lost.pcapng, and later: tshark -r lost.pcapng -T fields "
      "-e frame.comment\n"
      "Example: urnic capture - | wireshark -k -i -");
  command.callback([options] { capture(*options); });
}

}  // namespace urnic::cli
