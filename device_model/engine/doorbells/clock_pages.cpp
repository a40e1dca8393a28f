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
    : pages_(pages), file_(file), round_(round), clock_(clock) {
  auto* const info = new (pages_ + kInfoPage * kPageBytes) abi::mlx5::ClockInfo{};
  info->multiplier = 1;
  info->mask = ~std::uint64_t{0};
  info->period = static_cast<std::uint64_t>(kWallTimePeriod.count());
  store_wall_time();
}

void ClockPages::start() {
  ++maps_;
  if (away_) give_back();  // who has just mapped it does not watch it yet
  clock_page().store(ticks(clock_()));
  look_again_ = round_.now();  // an engine that sleeps comes to take the page away
}

bool ClockPages::watch(memory::Descriptor& faults, std::uint64_t address) {
  look_again_ = round_.now();
  if (watches_.size() >= kMostWatches) return false;
  watches_.push_back({std::move(faults), address});
  return true;
}

std::vector<memory::Descriptor> ClockPages::end_watches() {
  if (away_) give_back();
  std::vector<memory::Descriptor> ended;
  for (Watch& each : watches_) ended.push_back(std::move(each.faults));
  watches_.clear();
  return ended;
}

bool ClockPages::somebody_reads() const {
  return std::any_of(watches_.begin(), watches_.end(),
                     [](const Watch& each) { return has_fault(each.faults.get()); });
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
  if (maps_ != 0 && !away_) clock_page().store(time);
  return time;
}

std::uint64_t ClockPages::of_round() {
  const std::uint64_t time = ticks(round_.now());
  if (maps_ != 0 && !away_) clock_page().store(time);
  return time;
}

bool ClockPages::show() {
  if (maps_ == 0) return false;
  if (round_.now() - wall_time_at_ >= kWallTimePeriod) store_wall_time();
  if (away_) {
    attend();
    return !away_;
  }
  clock_page().store(ticks(round_.now()));
  return round_.now() < kept_until_;
}

void ClockPages::attend() {
  if (round_.now() - attended_ < kAttentionToReaders) return;
  attended_ = round_.now();
  if (somebody_reads()) give_back();
}

bool ClockPages::take_away(transport::Time now) {
  if (!take_page(file_, kClockPage)) return false;
  away_ = true;
  taken_ = now;
  return true;
}

void ClockPages::give_back() {
  const transport::Time now = clock_();
  away_ = false;
  clock_page().store(ticks(now));  // now it is there
  for (const Watch& each : watches_) end_fault(each.faults.get(), each.address);
  const bool at_once = now - taken_ < std::max(kept_for_, kFirstKeeping);
  kept_for_ = at_once ? std::clamp(2 * kept_for_, kFirstKeeping, kLongestKeeping) : kFirstKeeping;
  kept_until_ = now + kept_for_;
}

void ClockPages::going_to_sleep(transport::Time now) {
  if (maps_ == 0 || away_) return;
  if (watches_.size() < maps_ || !take_away(now)) look_again_ = now + kRestOfClock;
}

void ClockPages::awake() {
  look_again_.reset();
  if (away_ && somebody_reads()) give_back();
}

}  // namespace urnic::engine
