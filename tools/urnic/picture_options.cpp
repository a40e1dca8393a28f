#include "tools/urnic/picture_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "analysis/capture_files/capture_file.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/progress.hpp"

namespace urnic::cli {
namespace {

using analysis::Connection;
using analysis::FlowTracker;

// Behind the last time that was asked for, so many packets show what became of those before.
constexpr std::uint64_t kPacketsBehind = 1 << 16;
constexpr std::size_t kMostListed = 10;

// Returns how many packets behind the last time that was asked for were read.
std::uint64_t read_packets(analysis::CaptureFile& file, const PictureOptions& options, FlowTracker& tracker) {
  const std::int64_t to = options.to.empty() ? INT64_MAX : parse_time("--to", options.to);
  Progress progress("reading " + options.file);
  analysis::CapturedPacket record;
  std::uint64_t behind = 0;
  while (behind < kPacketsBehind && file.next(record)) {
    tracker.add(record, file.interfaces());
    if (record.nanoseconds - tracker.first_time() > to) ++behind;
    progress.reach(file.position().read, file.position().whole);
  }
  tracker.finish();
  return behind;
}

void read_file(const PictureOptions& options, FlowTracker& tracker) {
  analysis::CaptureFile file(options.file);
  const std::uint64_t behind = read_packets(file, options, tracker);
  if (behind < kPacketsBehind && file.end() == analysis::CaptureFile::End::within_record)
    fmt::print(stderr, "urnic: {} ends within a record: it was cut, or is still being written\n",
               options.file);
  if (tracker.packets().begin() != 0) {
    fmt::print(
        stderr,
        "urnic: {} packets at the beginning are left out, since there are so many; --to ends earlier\n",
        tracker.packets().begin());
  }
}

std::vector<Connection> with_queue_pair(const FlowTracker& tracker, const PictureOptions& options) {
  std::vector<Connection> connections = analysis::connections_of(tracker);
  if (!options.queue_pair) return connections;
  const wire::Qpn wanted{*options.queue_pair};
  const auto others = std::remove_if(
      connections.begin(), connections.end(),
      [&](const Connection& connection) { return !analysis::has_qp(tracker, connection, wanted); });
  connections.erase(others, connections.end());
  return connections;
}

std::string ends_of(const FlowTracker& tracker, const Connection& connection) {
  return fmt::format("{} and {}", analysis::left_end(tracker, connection),
                     analysis::right_end(tracker, connection));
}

void list(const FlowTracker& tracker, const std::vector<Connection>& connections) {
  fmt::print(stderr, "urnic: {} connections; the picture shows {}. Choose another with --qp, --from, --to:\n",
             connections.size(), ends_of(tracker, connections.front()));
  const std::size_t shown = std::min(connections.size(), kMostListed);
  for (std::size_t i = 0; i < shown; ++i) {
    const analysis::Flow& flow = tracker.flows()[connections[i].from_left];
    fmt::print(stderr, "  {}: {} packets from {:.6f} s on\n", ends_of(tracker, connections[i]),
               connections[i].packets, static_cast<double>(flow.first - tracker.first_time()) / 1e9);
  }
  if (shown < connections.size()) fmt::print(stderr, "  and {} more\n", connections.size() - shown);
}

void require_connection(const PictureOptions& options, const std::vector<Connection>& connections) {
  if (!connections.empty()) return;
  if (options.queue_pair)
    throw Failure(fmt::format("{}: no packet is from or to QP {:#x}", options.file, *options.queue_pair));
  throw Failure(fmt::format("{}: there is no packet of RoCEv2 or InfiniBand in it", options.file));
}

}  // namespace

void add_picture_options(command_line::Command& command, PictureOptions& options) {
  command.add_option("FILE", options.file, "A .pcap or .pcapng file, - for standard input")
      .required()
      .suggest("capture");
  command
      .add_option("--qp", options.queue_pair,
                  "The connection of this QP number; without it, that with most packets")
      .type_name("N");
  command
      .add_option("--from", options.from,
                  "From this time on: seconds since the first packet, or 12.5ms, 300us")
      .type_name("TIME");
  command.add_option("--to", options.to, "Up to this time").type_name("TIME");
  command.add_option("-o,--output", options.output, "The picture's file; standard output without it")
      .type_name("FILE")
      .suggest("file");
}

PicturedPackets read_packets_for_picture(const PictureOptions& options) {
  PicturedPackets packets;
  packets.tracker = std::make_unique<FlowTracker>();
  const std::int64_t from = options.from.empty() ? 0 : parse_time("--from", options.from);
  const std::int64_t to = options.to.empty() ? INT64_MAX : parse_time("--to", options.to);
  if (from > to) throw Failure("--from lies behind --to", exit_usage);
  read_file(options, *packets.tracker);
  packets.connections = with_queue_pair(*packets.tracker, options);
  require_connection(options, packets.connections);
  const std::int64_t first = packets.tracker->first_time();
  if (!options.from.empty()) packets.choice.from = first + from;
  if (!options.to.empty()) packets.choice.to = first + to;
  return packets;
}

PicturedCapture read_for_picture(const PictureOptions& options) {
  PicturedPackets packets = read_packets_for_picture(options);
  std::stable_sort(packets.connections.begin(), packets.connections.end(),
                   [](const Connection& a, const Connection& b) { return a.packets > b.packets; });
  if (packets.connections.size() > 1) list(*packets.tracker, packets.connections);
  return {std::move(packets.tracker), packets.connections.front(), packets.choice};
}

std::int64_t parse_time(std::string_view option, const std::string& text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr Unit kUnits[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"", 1e9}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool is_number = end != text.c_str() && std::isfinite(number) && number >= 0;
  for (const Unit& unit : kUnits) {
    const double nanoseconds = number * unit.nanoseconds;
    if (is_number && std::string_view(end) == unit.name && nanoseconds < 4e18)
      return static_cast<std::int64_t>(nanoseconds);
  }
  throw Failure(fmt::format("{} {}: a time is a number of seconds, or one with ns, us, ms or s behind it",
                            option, text),
                exit_usage);
}

void write_picture(const PictureOptions& options, std::string_view picture) {
  const bool to_stdout = options.output.empty() || options.output == "-";
  std::FILE* const file = to_stdout ? stdout : std::fopen(options.output.c_str(), "w");
  const std::string name = to_stdout ? "standard output" : options.output;
  if (file == nullptr) throw Failure(fmt::format("{}: {}", name, std::strerror(errno)));
  const bool written =
      std::fwrite(picture.data(), 1, picture.size(), file) == picture.size() && std::fflush(file) == 0;
  const int error = errno;
  if (!to_stdout) std::fclose(file);
  if (!written) throw Failure(fmt::format("{}: {}", name, std::strerror(error)));
}

}  // namespace urnic::cli
