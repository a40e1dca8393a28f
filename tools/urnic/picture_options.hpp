// What `urnic ladder` and `urnic plot` have in common: which packets of a capture file, and where the picture
// goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/flows/connections.hpp"
#include "analysis/flows/flow_tracker.hpp"
#include "analysis/pictures/ladder.hpp"
#include "command_line/command_line.hpp"

namespace urnic::cli {

struct PictureOptions {
  std::string file;
  std::optional<std::uint32_t> queue_pair;
  std::string from;  // times as people write them: "12.5ms"
  std::string to;
  std::string output;  // empty, or "-": standard output
};

// Gives `command` the options, whose values go into `options`; that must live as long as `command`.
void add_picture_options(command_line::Command& command, PictureOptions& options);

// The packets of the file, and the chosen ones among them.
struct PicturedPackets {
  std::unique_ptr<analysis::FlowTracker> tracker;
  std::vector<analysis::Connection> connections;  // at least one: all, or those that have the QP number
  analysis::LadderChoice choice;
};

// The packets of the file, and one connection among them.
struct PicturedCapture {
  std::unique_ptr<analysis::FlowTracker> tracker;
  analysis::Connection connection;
  analysis::LadderChoice choice;
};

// Reads the file. Throws Failure: there is no connection, or a time is not one; analysis::CaptureError.
PicturedPackets read_packets_for_picture(const PictureOptions& options);

// The same, of the connection with most packets. Says on stderr if there are others.
PicturedCapture read_for_picture(const PictureOptions& options);

// "12.5ms", "3us", "1.5s", or seconds without a unit, in nanoseconds. Throws Failure with exit_usage.
std::int64_t parse_time(std::string_view option, const std::string& text);

// Writes the picture to `options.output`. Throws Failure.
void write_picture(const PictureOptions& options, std::string_view picture);

}  // namespace urnic::cli
