// How both ends of a control connection wait for each other: at first without sleep.
//
// An answer takes microseconds. To put a thread to sleep and to wake it takes as long, and many times that on
// a processor that has gone idle meanwhile, as those of virtual machines do. So a thread first looks again
// and again, and gives the processor away between two looks. Where other threads want the processors this
// costs their time slices: then it sleeps at once, and tries again later and later. A thread that waits for
// another program's doing, and shares its processor with a thread that waits too, doubles the time that this
// one's answers take: so it sleeps after one look.
#pragma once

#include <sched.h>
#include <time.h>

#include <atomic>
#include <cstdint>

namespace urnic::abi {

// Durations are nanoseconds.
inline constexpr std::int64_t kShortWait = 50'000;
// Until an event comes from another program, which first does its part: a connection is asked for, or
// answered.
inline constexpr std::int64_t kShortWaitForEvent = 250'000;
// Giving the processor away takes longer only if another thread uses up its time slice.
inline constexpr std::int64_t kLongYield = 400'000;
// And longer than this only if another thread runs meanwhile, even if that gives way at once.
inline constexpr std::int64_t kYieldAlone = 1'500;
inline constexpr std::int64_t kShortestCrowd = 20'000'000;
inline constexpr std::int64_t kLongestCrowd = 5'000'000'000;

// Whether other threads want the processors that this process's threads use. Any thread, also a signal
// handler.
class Crowd {
 public:
  bool is_there(std::int64_t now) const { return now < until_.load(std::memory_order_relaxed); }
  // A yield ended at `now`.
  void yielded(std::int64_t now, std::int64_t duration) {
    const std::int64_t until = until_.load(std::memory_order_relaxed);
    if (now < until) return;
    std::int64_t period = period_.load(std::memory_order_relaxed);
    if (duration < kLongYield) {
      if (period != 0 && now > until + period) period_.store(0, std::memory_order_relaxed);
      return;
    }
    period = period == 0 ? kShortestCrowd : period * 2;
    if (period > kLongestCrowd) period = kLongestCrowd;
    period_.store(period, std::memory_order_relaxed);
    until_.store(now + period, std::memory_order_relaxed);
  }

 private:
  std::atomic<std::int64_t> until_{0};
  std::atomic<std::int64_t> period_{0};  // how long the last crowd was believed to stay
};

// What a thread does that has looked in vain while another one wants its processor.
enum class Beside {
  // What it waits for is a few microseconds away.
  look,
  // The other thread has work; and whoever wakes this one finds the processor awake.
  sleep,
};

// One wait, which begins when this is made.
class ShortWait {
 public:
  explicit ShortWait(Crowd& crowd, std::int64_t longest = kShortWait, Beside beside = Beside::look)
      : crowd_(crowd), longest_(longest), beside_(beside), begin_(clock()) {}

  // After a look that found nothing: gives the processor away once. False: it is time to sleep.
  bool yield() {
    const std::int64_t before = now_ != 0 ? now_ : begin_;
    if (before - begin_ >= longest_ || is_to_sleep_ || crowd_.is_there(before)) return false;
    sched_yield();
    yielded(before, clock());
    return true;
  }
  // A part of `yield`: the processor was given away from `before` until `now`.
  void yielded(std::int64_t before, std::int64_t now) {
    now_ = now;
    crowd_.yielded(now, now - before);
    if (beside_ == Beside::sleep && now - before > kYieldAlone) is_to_sleep_ = true;
  }

 private:
  static std::int64_t clock() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }

  Crowd& crowd_;
  std::int64_t longest_;
  Beside beside_;
  bool is_to_sleep_ = false;
  std::int64_t begin_;
  std::int64_t now_ = 0;
};

}  // namespace urnic::abi
