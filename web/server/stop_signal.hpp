// Ends the waits of all threads when the server ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace urnic::web {

class StopSignal {
 public:
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  // Waits until `time`; false: the server ends.
  bool wait_until(std::chrono::steady_clock::time_point time) {
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, time, [this] { return stopped_; });
    return !stopped_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace urnic::web
