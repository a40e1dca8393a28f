// The last frames of one queue pair, as they pass: a sample where they pass faster than anybody looks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "tools/urnic/running_capture.hpp"
#include "web/server/device_connection.hpp"
#include "web/server/queue_pair_name.hpp"

namespace urnic::web {

struct LiveFrame {
  std::uint64_t number = 0;  // from 1
  std::uint64_t nanoseconds = 0;
  std::uint16_t interface = 0;
  bool after_gap = false;  // frames before it are missing
  std::vector<std::byte> bytes;
  std::string comment;
};

// One thread at a time.
class LiveFrames {
 public:
  // How many are kept, and taken at once: what passes beside those is skipped.
  static constexpr std::size_t kMost = 4096;
  static constexpr std::size_t kMostAtOnce = 400;

  // Starts a capture; the device process copies frames until this is destroyed. Throws cli::RequestRefused
  // (no such queue pair), NoDeviceProcess, cli::Failure, std::exception.
  LiveFrames(const DeviceConnection& devices, const QueuePairName& queue_pair);

  // Takes what has passed since the last call; returns how many frames of `frames` at the end are new. Throws
  // std::runtime_error if the ring is damaged.
  std::size_t drain();
  // False: the device process has ended.
  bool is_open() const;

  const std::vector<capture::Interface>& interfaces() const { return capture_.interfaces(); }
  // Oldest first, with numbers in a row.
  const std::deque<LiveFrame>& frames() const { return frames_; }
  // Null: it is too old, or was never there.
  const LiveFrame* find(std::uint64_t number) const;
  // Frames that passed and are not among them.
  std::uint64_t missed() const { return capture_.reader().dropped() + skipped_; }

 private:
  cli::RunningCapture capture_;
  std::deque<LiveFrame> frames_;
  std::uint64_t next_number_ = 1;
  std::uint64_t skipped_ = 0;
  bool after_skipped_ = false;
};

}  // namespace urnic::web
