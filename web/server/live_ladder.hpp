// The ladder of one queue pair while programs run. The device process copies frames for it only while a page
// looks.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "analysis/flows/flow_tracker.hpp"
#include "json/json.hpp"
#include "web/server/live_frames.hpp"

namespace urnic::web {

class LiveLadder {
 public:
  // Arrows that a page is told of: the last ones.
  static constexpr std::size_t kMostArrows = 600;

  LiveLadder(const DeviceConnection& devices, QueuePairName queue_pair)
      : devices_(devices), queue_pair_(std::move(queue_pair)) {}

  // What has changed since version `since`; 0: everything.
  struct Changes {
    nlohmann::json arrows = nlohmann::json::array();  // arrow.hpp; with "headers" in words, and "gap": frames
                                                      // before it are missing
    std::uint64_t version = 0;
    std::uint64_t capture = 0;  // with another number frames are counted from 1 anew
    std::uint64_t oldest = 0;   // arrows with smaller numbers are gone
    std::uint64_t missed = 0;   // frames that were not looked at, because there were too many
    std::string problem;        // why there are no new ones; empty: there are
  };
  // With what has passed since the last call. Any thread, as all of these.
  Changes changes_since(std::uint64_t since);
  // Throw WrongAction if the frame is too old, or was never there.
  nlohmann::json frame(std::uint64_t number);
  // What is kept, as a capture file.
  std::string pcapng();

 private:
  struct Arrow {
    nlohmann::json json;
    std::uint64_t version;
  };

  void take();
  void begin();
  void track(const LiveFrame& frame);
  analysis::CapturedPacket packet_in(const LiveFrame& frame);
  void put(const analysis::Packet& packet);

  const DeviceConnection& devices_;
  const QueuePairName queue_pair_;
  std::mutex mutex_;
  std::unique_ptr<LiveFrames> frames_;
  std::vector<analysis::CaptureInterface> interfaces_;
  std::vector<std::byte> storage_;                  // of packet_in
  std::unique_ptr<analysis::FlowTracker> tracker_;  // of the frames since the last gap
  std::map<std::uint64_t, Arrow> arrows_;           // by number
  std::uint64_t version_ = 0;
  std::uint64_t capture_ = 0;
  std::int64_t zero_ = 0;  // the time of the first frame
  std::chrono::steady_clock::time_point try_again_{};
  std::string problem_;
};

// Those that pages look at, by queue pair: several pages share one.
class LiveLadders {
 public:
  explicit LiveLadders(const DeviceConnection& devices) : devices_(devices) {}

  // The ladder goes with the last page that holds it.
  std::shared_ptr<LiveLadder> watch(const QueuePairName& queue_pair);
  // Throws WrongAction if no page looks at it.
  std::shared_ptr<LiveLadder> find(const QueuePairName& queue_pair);

 private:
  const DeviceConnection& devices_;
  std::mutex mutex_;
  std::map<QueuePairName, std::weak_ptr<LiveLadder>> ladders_;
};

}  // namespace urnic::web
