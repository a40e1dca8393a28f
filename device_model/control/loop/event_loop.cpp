#include "device_model/control/loop/event_loop.hpp"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>

#include "device_model/memory/checked_call.hpp"

namespace urnic::control {
namespace {

constexpr EventLoop::WatchId kStopWatch = 0;
// The scheduler delays a thread that has used its share when a program's request arrives. So the loop rests
// between two portions of work, for longer if programs sent requests lately: a tenth of its time is work
// then. Too long a rest would let work pile up: contexts of programs that end, while others begin.
constexpr std::chrono::microseconds kShortRest{50};
constexpr std::chrono::microseconds kLongestRest{1000};
constexpr int kLongRest = 10;  // times the processor time of the portion
constexpr std::chrono::milliseconds kLately{20};

// Of the calling thread. A portion that waits for the engine uses no processor meanwhile.
std::chrono::nanoseconds processor_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

EventLoop::EventLoop()
    : epoll_(memory::checked(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      stop_event_(memory::checked(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kStopWatch;
  memory::checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_event_.get(), &event), "epoll_ctl");
}

EventLoop::WatchId EventLoop::watch(int descriptor, std::uint32_t events, Handler handler) {
  const WatchId id = next_id_++;
  epoll_event event{};
  event.events = events;
  event.data.u64 = id;
  memory::checked(epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event), "epoll_ctl");
  watches_.emplace(id, std::make_shared<Watch>(Watch{descriptor, std::move(handler)}));
  return id;
}

void EventLoop::change(WatchId watch, std::uint32_t events) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  epoll_event event{};
  event.events = events;
  event.data.u64 = watch;
  memory::checked(epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, found->second->descriptor, &event), "epoll_ctl");
}

void EventLoop::forget(WatchId watch) {
  const auto found = watches_.find(watch);
  if (found == watches_.end()) return;
  epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, found->second->descriptor, nullptr);
  watches_.erase(found);
}

void EventLoop::run() {
  running_ = true;
  while (running_) {
    if (handle_events()) last_event_ = Clock::now();
    if (!work_.empty() && Clock::now() >= next_portion_) do_portion();
  }
}

int EventLoop::wait(std::span<epoll_event> events) {
  const auto look = [&](int patience) {
    return epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), patience);
  };
  if (!work_.empty()) {
    wait_until(next_portion_);
    return look(0);
  }
  // A program that has its answer often asks again at once.
  for (abi::ShortWait short_wait(crowd_);;) {
    if (const int count = look(0); count != 0) return count;
    if (!short_wait.yield()) return look(-1);
  }
}

bool EventLoop::handle_events() {
  std::array<epoll_event, 64> events;
  const int count = wait(events);
  if (count < 0 && errno == EINTR) return false;
  memory::checked(count, "epoll_wait");
  for (int i = 0; i < count; ++i) {
    const WatchId id = events[static_cast<std::size_t>(i)].data.u64;
    if (id == kStopWatch) {
      running_ = false;
      eventfd_t ignored = 0;
      eventfd_read(stop_event_.get(), &ignored);
      continue;
    }
    // Looks the watch up for every event: an earlier handler of this round may have ended the watch. The copy
    // keeps the handler alive while it ends itself.
    const auto found = watches_.find(id);
    if (found == watches_.end()) continue;
    const std::shared_ptr<Watch> watch = found->second;
    watch->handler(events[static_cast<std::size_t>(i)].events);
  }
  return count > 0;
}

// Until an event or `time`. epoll_wait counts milliseconds; some kernels lack epoll_pwait2.
void EventLoop::wait_until(Clock::time_point time) {
  const auto span = std::chrono::nanoseconds(time - Clock::now()).count();
  if (span <= 0) return;
  const timespec patience{span / 1'000'000'000, span % 1'000'000'000};
  pollfd descriptor{epoll_.get(), POLLIN, 0};
  ppoll(&descriptor, 1, &patience, nullptr);
}

void EventLoop::do_portion() {
  const auto before = processor_time();
  work_.run_one();
  const auto used = processor_time() - before;
  const auto now = Clock::now();
  const bool asked_lately = now - last_event_ < kLately;
  const auto longest = asked_lately ? kLongestRest : kShortRest;
  next_portion_ = now + std::clamp<std::chrono::nanoseconds>(kLongRest * used, kShortRest, longest);
}

void EventLoop::stop() { eventfd_write(stop_event_.get(), 1); }

Timer::Timer(EventLoop& loop, std::function<void()> expired)
    : descriptor_(
          memory::checked(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create")),
      watch_(loop, descriptor_.get(), EPOLLIN, [this, expired = std::move(expired)](std::uint32_t) {
        std::uint64_t times = 0;
        if (read(descriptor_.get(), &times, sizeof times) != sizeof times) return;
        set_ = false;
        expired();
      }) {}

void Timer::set(std::chrono::nanoseconds span) {
  // Setting a timerfd to zero would disarm it.
  const auto count = std::max<std::int64_t>(span.count(), 1);
  itimerspec spec{};
  spec.it_value.tv_sec = count / 1'000'000'000;
  spec.it_value.tv_nsec = count % 1'000'000'000;
  memory::checked(timerfd_settime(descriptor_.get(), 0, &spec, nullptr), "timerfd_settime");
  set_ = true;
}

void Timer::cancel() {
  const itimerspec off{};
  timerfd_settime(descriptor_.get(), 0, &off, nullptr);
  set_ = false;
}

}  // namespace urnic::control
