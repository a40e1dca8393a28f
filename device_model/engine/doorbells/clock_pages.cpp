#include "device_model/engine/doorbells/clock_pages.hpp"

#include <algorithm>
#include <ctime>
#include <new>
#include <utility>

namespace urnic::engine {

namespace {

// The wall clock may be set at any time.
constexpr transport::Nanoseconds kWallTimePeriod{1'000'000};
// Of a clock that no reader wakes, while the engine sleeps.
constexpr transport::Nanoseconds kRestOfClock{2'000'000};
// How often an engine that is awake asks for readers: a system call.
constexpr transport::Nanoseconds kAttentionToReaders{100'000};
// For a reader to have its turn: first as long as it takes if a processor is free. If it comes back at once,
// it has had none, or reads without a pause: then longer.
constexpr transport::Nanoseconds kFirstKeeping{20'000};
constexpr transport::Nanoseconds kLongestKeeping{1'280'000};

std::uint64_t wall_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

ClockPages::ClockPages(std::byte* pages, int file, Round& round, Clock clock)
    : pages_(pages), page_(file, kClockPage), round_(round), clock_(clock) {
  auto* const info = new (pages_ + kInfoPage * kPageBytes) abi::mlx5::ClockInfo{};
  info->multiplier = 1;
  info->mask = ~std::uint64_t{0};
  info->period = static_cast<std::uint64_t>(kWallTimePeriod.count());
  store_wall_time();
}

void ClockPages::hold(PageHolder holder) {
  if (page_.is_away()) give_back();
  clock_page().store(ticks(clock_()));
  look_again_ = round_.now();  // an engine that sleeps comes to take the page away
  page_.hold(holder);
}

memory::Descriptor ClockPages::watch(PageHolder holder, memory::Descriptor faults, std::uint64_t address) {
  if (page_.is_away()) give_back();
  look_again_ = round_.now();
  return page_.watch(holder, std::move(faults), address);
}

std::vector<memory::Descriptor> ClockPages::release(PageHolder holder) { return page_.release(holder); }

std::vector<memory::Descriptor> ClockPages::release_all() {
  if (page_.is_away()) give_back();
  return page_.release_all();
}

// The program copies the numbers between two reads of the sequence.
void ClockPages::store_wall_time() {
  auto& info = *reinterpret_cast<abi::mlx5::ClockInfo*>(pages_ + kInfoPage * kPageBytes);
  const std::uint32_t sequence = info.sequence.load(std::memory_order_relaxed) & ~1u;
  info.sequence.store(sequence | 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  const transport::Time now = clock_();
  info.nanoseconds.store(wall_time(), std::memory_order_relaxed);
  info.at.store(ticks(now), std::memory_order_relaxed);
  info.sequence.store(sequence + 2, std::memory_order_release);
  wall_time_at_ = now;
}

std::uint64_t ClockPages::now() {
  const std::uint64_t time = ticks(clock_());
  if (page_.is_held() && !page_.is_away()) clock_page().store(time);
  return time;
}

std::uint64_t ClockPages::of_round() {
  const std::uint64_t time = ticks(round_.now());
  if (page_.is_held() && !page_.is_away()) clock_page().store(time);
  return time;
}

bool ClockPages::show() {
  if (!page_.is_held()) return false;
  if (round_.now() - wall_time_at_ >= kWallTimePeriod) store_wall_time();
  if (page_.is_away()) {
    attend();
    return !page_.is_away();
  }
  clock_page().store(ticks(round_.now()));
  return round_.now() < kept_until_;
}

void ClockPages::attend() {
  if (round_.now() - attended_ < kAttentionToReaders) return;
  attended_ = round_.now();
  if (page_.is_awaited()) give_back();
}

bool ClockPages::take_away(transport::Time now) {
  if (!page_.take()) return false;
  taken_ = now;
  return true;
}

void ClockPages::give_back() {
  const transport::Time now = clock_();
  clock_page().store(ticks(now));
  page_.given_back();
  const bool at_once = now - taken_ < std::max(kept_for_, kFirstKeeping);
  kept_for_ = at_once ? std::clamp(2 * kept_for_, kFirstKeeping, kLongestKeeping) : kFirstKeeping;
  kept_until_ = now + kept_for_;
}

void ClockPages::going_to_sleep(transport::Time now) {
  if (!page_.is_held() || page_.is_away()) return;
  if (!page_.can_be_taken() || !take_away(now)) look_again_ = now + kRestOfClock;
}

void ClockPages::awake() {
  look_again_.reset();
  if (page_.is_away() && page_.is_awaited()) give_back();
}

}  // namespace urnic::engine
