// The packets between script and device up to now, for the ladder beside a mismatch.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "analysis/pictures/ladder.hpp"
#include "script/host.hpp"

namespace urnic::script {

class PacketLog {
 public:
  explicit PacketLog(wire::LinkLayer link_layer) : link_layer_(link_layer) {}

  void sent(const Bytes& frame, Time at);
  void seen(const SeenFrame& frame);

  std::uint64_t sent_count() const { return sent_; }
  std::uint64_t seen_count() const { return seen_; }
  // The last ones as a ladder in text (analysis/pictures).
  std::string ladder(Time start) const;

 private:
  static constexpr std::size_t kMostKept = 64;

  struct Entry {
    Bytes frame;
    Time at{};
    bool to_device = false;
  };
  analysis::LadderArrow arrow_of(const Entry& entry, analysis::FrameNumber number, Time start) const;
  void keep(Entry entry);

  const wire::LinkLayer link_layer_;
  std::deque<Entry> entries_;
  std::uint64_t sent_ = 0;
  std::uint64_t seen_ = 0;
};

}  // namespace urnic::script
