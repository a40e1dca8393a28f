// What `urnic ladder` and `urnic plot` have in common: which packets of a capture file, and where the picture
// goes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

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
struct PicturedCapture {
  std::unique_ptr<analysis::FlowTracker> tracker;
  analysis::Connection connection;
  analysis::LadderChoice choice;
};

// Reads the file. Chooses the connection with most packets, of those that have the QP number, and says on
// stderr if there are others. Throws Failure: there is none, or a time is not one; analysis::CaptureError.
PicturedCapture read_for_picture(const PictureOptions& options);

// "12.5ms", "3us", "1.5s", or seconds without a unit, in nanoseconds. Throws Failure with exit_usage.
std::int64_t parse_time(std::string_view option, const std::string& text);

// Writes the picture to `options.output`. Throws Failure.
void write_picture(const PictureOptions& options, std::string_view picture);

}  // namespace urnic::cli
