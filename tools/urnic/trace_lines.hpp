// Packets as `urnic trace` prints them: a line each, with its verdict. A packet waits until it is known what
// becomes of it, but not for long.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "analysis/flows/flow_tracker.hpp"
#include "tools/urnic/progress.hpp"
#include "tools/urnic/trace_filter.hpp"

namespace urnic::cli {

struct TraceStyle {
  bool json = false;
  bool colour = false;
  std::uint64_t most = UINT64_MAX;  // lines
  // A packet is on hold until so many packets have been seen behind it, or so many nanoseconds have passed in
  // the capture.
  std::size_t hold = 4096;
  std::int64_t hold_nanoseconds = INT64_MAX;
  bool wait_for_answers = false;  // holds a packet also if nothing but answers can tell more
  Progress* progress = nullptr;   // makes room for each line, if there is one
};

class TraceLines {
 public:
  // The tracker must keep more packets than are on hold.
  TraceLines(const analysis::FlowTracker& tracker, const TraceFilter& filter, const TraceStyle& style)
      : tracker_(tracker), filter_(filter), style_(style) {}

  // A record that the tracker has taken, as packet `id`; it is printed once, with its first record.
  void add(const analysis::CapturedPacket& record, const analysis::Dissection& dissection,
           analysis::PacketId id);
  // Prints what is settled, and what has been on hold for long enough.
  void print_settled();
  // Prints everything.
  void print_all();
  bool is_full() const { return printed_ >= style_.most; }
  std::uint64_t printed() const { return printed_; }

 private:
  struct Held {
    analysis::PacketId id;
    std::string source;
    std::string destination;
    std::string summary;
  };

  bool must_wait(const Held& held) const;
  void print(const Held& held);
  void print_line(const Held& held, const analysis::Packet& packet) const;
  void print_json(const Held& held, const analysis::Packet& packet) const;

  const analysis::FlowTracker& tracker_;
  const TraceFilter& filter_;
  const TraceStyle style_;
  std::deque<Held> held_;
  std::uint64_t printed_ = 0;
};

}  // namespace urnic::cli
