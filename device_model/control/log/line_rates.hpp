// How often lines of one kind are written to the log: a program that is refused again and again must not fill
// it, nor push out what others have to say.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

namespace urnic::control::log {

class LineRates {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint64_t kMost = 30;  // of a kind
  static constexpr std::chrono::minutes kSpan{1};

  struct Verdict {
    bool is_written = true;
    std::uint64_t left_out_before = 0;  // lines of the kind, of which the log shall tell now
  };

  // A line is to be written at `now`. `kind` identifies its format. Any thread.
  Verdict look(const void* kind, Clock::time_point now) {
    const std::lock_guard lock(mutex_);
    Kind& seen = kinds_[kind];
    Verdict verdict;
    if (now - seen.since >= kSpan) {
      verdict.left_out_before = seen.left_out;
      seen = {now, 0, 0};
    }
    verdict.is_written = ++seen.lines <= kMost;
    if (!verdict.is_written) ++seen.left_out;
    return verdict;
  }

 private:
  struct Kind {
    Clock::time_point since{};
    std::uint64_t lines = 0;
    std::uint64_t left_out = 0;
  };

  std::mutex mutex_;
  std::map<const void*, Kind> kinds_;  // as many as there are formats in the code
};

}  // namespace urnic::control::log
