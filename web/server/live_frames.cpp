#include "web/server/live_frames.hpp"

#include <poll.h>

namespace urnic::web {

LiveFrames::LiveFrames(const DeviceConnection& devices, const QueuePairName& queue_pair)
    : capture_(devices.connect(), queue_pair.device, queue_pair.qpn) {}

// Skipping goes on no longer than a ring holds frames: the engine may be faster.
std::size_t LiveFrames::drain() {
  capture::CaptureReader& reader = capture_.reader();
  constexpr std::size_t kMostSkipped = 20'000;
  capture::CapturedFrame frame;
  std::size_t taken = 0;
  for (std::size_t seen = 0; seen < kMostSkipped && reader.next(frame); ++seen) {
    if (taken == kMostAtOnce) {
      ++skipped_;
      after_skipped_ = true;
      continue;
    }
    frames_.push_back({next_number_++,
                       frame.nanoseconds,
                       frame.interface,
                       frame.after_gap || after_skipped_,
                       {frame.bytes.begin(), frame.bytes.end()},
                       std::string(frame.comment)});
    after_skipped_ = false;
    ++taken;
    if (frames_.size() > kMost) frames_.pop_front();
  }
  reader.release();
  return taken;
}

bool LiveFrames::is_open() const {
  pollfd look{capture_.descriptor(), POLLIN, 0};
  return poll(&look, 1, 0) == 0;
}

const LiveFrame* LiveFrames::find(std::uint64_t number) const {
  if (frames_.empty() || number < frames_.front().number || number > frames_.back().number) return nullptr;
  return &frames_[number - frames_.front().number];
}

}  // namespace urnic::web
