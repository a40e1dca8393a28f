// Whether a program's private memory shall become shared memory when it is registered. To exchange the pages
// costs some milliseconds for each MiB, which many transfers pay back, and few do not: what the program's
// earlier regions were used for says what to expect.
#pragma once

#include <chrono>
#include <cstdint>

namespace urnic::control {

// Of one process. Control thread only.
class SharingRule {
 public:
  using Clock = std::chrono::steady_clock;

  // A region's use has paid for the exchange if as many times its bytes were moved; an access counts as a
  // page.
  static constexpr std::uint64_t kPaidByTimes = 32;
  // A program may lose this much of its time to exchanges, and one part in as many of its life.
  static constexpr std::chrono::milliseconds kFreeTime{250};
  static constexpr int kPartOfLife = 20;

  explicit SharingRule(Clock::time_point begin) : begin_(begin) {}

  // Asked once for each region that could be shared.
  bool shares(Clock::time_point now);
  // Sharing took as long.
  void has_cost(Clock::duration time) { spent_ += time; }
  // A shared region of `bytes` has ended, of which `moved` were moved.
  void ended(std::uint64_t bytes, std::uint64_t moved);

 private:
  Clock::time_point begin_;
  Clock::duration spent_{};
  std::uint32_t unpaid_ = 0;  // regions in succession
  std::uint64_t pass_over_ = 0;
};

}  // namespace urnic::control
