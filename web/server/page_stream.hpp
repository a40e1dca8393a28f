// What one open page is told, as server-sent events: the overview, the table of queue pairs, and the one
// queue pair that the page looks at.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "web/server/live_ladder.hpp"
#include "web/server/overview.hpp"
#include "web/server/row_changes.hpp"
#include "web/server/stop_signal.hpp"

namespace urnic::web {

class PageStream {
 public:
  // All outlive the stream.
  struct Surroundings {
    DeviceConnection& devices;
    Overview& overview;
    LiveLadders& ladders;
    StopSignal& stop;
  };
  struct Watched {
    std::optional<QueuePairName> queue_pair;
    bool ladder = false;  // of that queue pair
  };

  PageStream(const Surroundings& surroundings, const Watched& watched);

  // Waits until something is due, and returns the text to send: events, or a comment that keeps the
  // connection alive. Empty: the server ends.
  std::string next();

 private:
  using Clock = std::chrono::steady_clock;
  // How often a page is told; the eye sees no more.
  static constexpr std::chrono::milliseconds kQueuePairInterval{250};
  static constexpr std::chrono::milliseconds kLadderInterval{250};
  static constexpr std::chrono::seconds kKeepAlive{5};

  std::string overview_events();
  std::string queue_pair_events();
  std::string ladder_events();

  const Surroundings surroundings_;
  const Watched watched_;
  RowChanges queue_pairs_;
  std::shared_ptr<LiveLadder> ladder_;
  std::uint64_t arrows_ = 0;  // the version of the ladder that the page has
  std::string ladder_problem_;
  std::uint64_t told_ = 0;  // the number of the last sample
  Clock::time_point overview_at_;
  Clock::time_point queue_pair_at_;
  Clock::time_point ladder_at_;
  Clock::time_point sent_at_;
};

}  // namespace urnic::web
