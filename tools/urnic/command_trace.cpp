// urnic trace: prints packets in one line each, with what each means in its connection; from a running device
// process while programs run, or from a capture file.
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>

#include "analysis/dissection/dissection.hpp"
#include "analysis/flows/flow_tracker.hpp"
#include "json/json.hpp"
#include "tools/urnic/commands.hpp"
#include "tools/urnic/failure.hpp"
#include "tools/urnic/named_run_directory.hpp"
#include "tools/urnic/packet_source.hpp"
#include "tools/urnic/progress.hpp"
#include "tools/urnic/signals.hpp"
#include "tools/urnic/trace_filter.hpp"
#include "tools/urnic/trace_lines.hpp"

namespace urnic::cli {

using analysis::FlowTracker;
using command_line::Command;

namespace {

// In a file, what becomes of a packet shows within so many packets behind it.
constexpr std::size_t kFileHold = 1 << 16;
// On a live wire, a packet has arrived or was dropped after so many milliseconds.
constexpr int kLiveHold = 200;
// Packets between two looks whether the user wants the end.
constexpr std::uint64_t kPacketsBetweenLooks = 256;

struct TraceOptions {
  std::string file;
  std::string name;
  std::string device;
  TraceChoice choice;
  std::uint64_t count = 0;
  bool json = false;
};

// Of what is read until its end. A pager behind a pipe has the terminal for itself.
std::unique_ptr<Progress> progress_of(const TraceOptions& options, const PacketSource& source) {
  struct stat status {};
  const bool shows = source.is_whole() && fstat(STDOUT_FILENO, &status) == 0 && !S_ISFIFO(status.st_mode);
  return shows ? std::make_unique<Progress>("reading " + options.file) : nullptr;
}

TraceStyle style_of(const TraceOptions& options, const PacketSource& source, Progress* progress) {
  TraceStyle style;
  style.progress = progress;
  style.json = options.json;
  style.colour = !options.json && isatty(STDOUT_FILENO) != 0;
  if (options.count != 0) style.most = options.count;
  style.hold_nanoseconds = std::int64_t{kLiveHold} * 1'000'000;
  if (source.is_whole()) {
    style.hold_nanoseconds = INT64_MAX;
    style.hold = kFileHold;
    style.wait_for_answers = true;
  }
  return style;
}

std::unique_ptr<PacketSource> open_source(const TraceOptions& options) {
  if (!options.file.empty()) return packets_of_file(options.file);
  return packets_of_devices(connect_or_fail(named_run_directory(options.name)), options.device);
}

// Of a file, by the interface's name; the device process records only what was asked for.
bool is_of_device(const TraceOptions& options, const PacketSource& source, std::uint32_t interface) {
  if (options.device.empty() || options.device == "all" || options.file.empty()) return true;
  return source.interfaces()[interface].device == options.device;
}

bool is_readable(int descriptor) {
  pollfd look{descriptor, POLLIN, 0};
  return poll(&look, 1, 0) > 0;
}

class Trace {
 public:
  Trace(const TraceOptions& options, PacketSource& source)
      : options_(options),
        source_(source),
        filter_(options.choice),
        progress_(progress_of(options, source)),
        style_(style_of(options, source, progress_.get())),
        tracker_(style_.hold * 2),
        lines_(tracker_, filter_, style_) {}

  // Until the source's end, `stop` (a descriptor), or enough lines.
  void run(int stop) {
    while (!lines_.is_full()) {
      analysis::CapturedPacket record;
      const PacketSource::Next next = source_.next(record);
      if (next == PacketSource::Next::end) break;
      if (next == PacketSource::Next::packet) take(record);
      if (next == PacketSource::Next::none_yet) rest(stop);
      const bool looks =
          next == PacketSource::Next::none_yet || tracker_.records() % kPacketsBetweenLooks == 0;
      if (looks && is_readable(stop)) break;
      if (looks && progress_) progress_->reach(source_.position().read, source_.position().whole);
    }
    tracker_.finish();
    lines_.print_all();
    flush();
  }

  const FlowTracker& tracker() const { return tracker_; }

 private:
  void take(const analysis::CapturedPacket& record) {
    const analysis::Dissection dissection =
        analysis::dissect(record.bytes, record.original_bytes, record.link_layer);
    const analysis::PacketId id = tracker_.add(record, source_.interfaces(), dissection);
    if (id != analysis::kNoPacket && is_of_device(options_, source_, record.interface))
      lines_.add(record, dissection, id);
    lines_.print_settled();
    has_rested_ = false;
  }

  void rest(int stop) {
    // Twice without a packet: nothing more will be told of those on hold.
    if (has_rested_) lines_.print_all();
    has_rested_ = true;
    flush();
    source_.wait(stop, kLiveHold);
  }

  static void flush() {
    if (std::fflush(stdout) != 0) throw Failure(fmt::format("standard output: {}", std::strerror(errno)));
  }

  const TraceOptions& options_;
  PacketSource& source_;
  const TraceFilter filter_;
  const std::unique_ptr<Progress> progress_;  // or nothing
  const TraceStyle style_;
  FlowTracker tracker_;
  TraceLines lines_;
  bool has_rested_ = false;
};

void trace(const TraceOptions& options) {
  const SignalDescriptor stop{SIGINT, SIGTERM, SIGHUP};
  const std::unique_ptr<PacketSource> source = open_source(options);
  if (options.file.empty() && !options.json) fmt::print(stderr, "urnic: tracing; end with Ctrl-C\n");
  Trace trace(options, *source);
  trace.run(stop.get());
  const std::string complaint = source->complaint();
  if (!complaint.empty()) fmt::print(stderr, "urnic: {}\n", complaint);
}

}  // namespace

void add_trace(Command& urnic) {
  auto options = std::make_shared<TraceOptions>();
  Command command =
      urnic.add_subcommand("trace", "Print packets in a line each, with what each means in its connection");
  command
      .add_option(
          "FILE", options->file,
          "A .pcap or .pcapng file, - for standard input; without it, packets of a running device process "
          "as they pass")
      .suggest("capture");
  add_filter_options(command, options->choice);
  command.add_option("--device", options->device, "Only what this device sends or receives")
      .type_name("DEVICE")
      .suggest("device");
  command.add_option("--count", options->count, "End after this many lines").type_name("N").positive();
  command.add_flag("--json", options->json, "A JSON object for each packet, one on a line");
  add_name_option(command, options->name);
  command.footer(
      "A line has the frame's number, the seconds since the first one, the addresses, the headers, and "
      "behind <-\n"
      "what the packet is: a retransmission, lost, which frames it acknowledges (docs/pictures.md).\n"
      "Example: urnic trace --only lost,retransmission,nak\n"
      "Example: urnic trace capture.pcapng --qp 0x12 --count 20\n"
      "Example: tcpdump -i eth0 -w - udp port 4791 | urnic trace -");
  command.callback([options] { trace(*options); });
}

}  // namespace urnic::cli
