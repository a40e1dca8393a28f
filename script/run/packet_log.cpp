#include "script/run/packet_log.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "analysis/dissection/dissection.hpp"
#include "analysis/dissection/frame_text.hpp"

namespace urnic::script {

void PacketLog::keep(Entry entry) {
  if (entries_.size() == kMostKept) entries_.pop_front();
  entries_.push_back(std::move(entry));
}

void PacketLog::sent(const Bytes& frame, Time at) {
  ++sent_;
  keep({frame, at, true});
}

void PacketLog::seen(const SeenFrame& frame) {
  ++seen_;
  keep({frame.bytes, frame.at, false});
}

std::string PacketLog::ladder(Time start) const {
  std::string text = fmt::format("  {:>14}  {:<8} {:^6} {}\n", "ms", "script", "", "device");
  for (const Entry& entry : entries_) {
    const double milliseconds = std::chrono::duration<double, std::milli>(entry.at - start).count();
    text +=
        fmt::format("  {:>14.6f}  {:<8} {:^6} {}\n", milliseconds, "|", entry.to_device ? "---->" : "<----",
                    analysis::summary(analysis::dissect(entry.frame)));
  }
  return text;
}

}  // namespace urnic::script
