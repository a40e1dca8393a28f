// The control thread's loop: descriptors, and the handlers to call when they are ready.
#pragma once

#include <sys/epoll.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>

#include "device_model/abi/short_wait.hpp"
#include "device_model/control/loop/work_in_portions.hpp"
#include "device_model/memory/descriptor.hpp"

namespace urnic::control {

class EventLoop {
 public:
  using Handler = std::function<void(std::uint32_t events)>;
  using WatchId = std::uint64_t;

  EventLoop();

  // Calls `handler` on any of `events` (EPOLLIN, …). The descriptor belongs to the caller, which calls
  // `forget` before closing it. A handler may watch and forget any descriptor, its own too.
  WatchId watch(int descriptor, std::uint32_t events, Handler handler);
  void change(WatchId watch, std::uint32_t events);
  void forget(WatchId watch);

  // Runs until `stop`, which any thread may call, and any handler.
  void run();
  void stop();

  // Work that is done between two polls of the descriptors.
  WorkInPortions& work() { return work_; }

 private:
  struct Watch {
    int descriptor;
    Handler handler;
  };

  using Clock = std::chrono::steady_clock;

  // Waits for events, at most until the next portion of work. Returns their number, or -1 and errno.
  int wait(std::span<epoll_event> events);
  // Waits as above, and handles the events. False: none came.
  bool handle_events();
  void wait_until(Clock::time_point time);
  void do_portion();

  memory::Descriptor epoll_;
  memory::Descriptor stop_event_;
  std::unordered_map<WatchId, std::shared_ptr<Watch>> watches_;
  WatchId next_id_ = 1;
  WorkInPortions work_;
  abi::Crowd crowd_;
  Clock::time_point next_portion_{};
  Clock::time_point last_event_{};
  bool running_ = false;
};

// A watch that ends with its owner. The loop outlives it.
class ScopedWatch {
 public:
  ScopedWatch() = default;
  ScopedWatch(EventLoop& loop, int descriptor, std::uint32_t events, EventLoop::Handler handler)
      : loop_(&loop), id_(loop.watch(descriptor, events, std::move(handler))) {}
  ScopedWatch(ScopedWatch&& other) noexcept
      : loop_(std::exchange(other.loop_, nullptr)), id_(std::exchange(other.id_, 0)) {}
  ScopedWatch& operator=(ScopedWatch&& other) noexcept {
    std::swap(loop_, other.loop_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~ScopedWatch() { reset(); }

  void change(std::uint32_t events) { loop_->change(id_, events); }
  void reset() {
    if (loop_ != nullptr) std::exchange(loop_, nullptr)->forget(id_);
  }

 private:
  EventLoop* loop_ = nullptr;
  EventLoop::WatchId id_ = 0;
};

// A timer on the loop; free while it is not set.
class Timer {
 public:
  Timer(EventLoop& loop, std::function<void()> expired);

  // Expires once, `span` from now; replaces the previous setting. Zero expires at once.
  void set(std::chrono::nanoseconds span);
  void cancel();
  bool is_set() const { return set_; }

 private:
  memory::Descriptor descriptor_;
  bool set_ = false;
  ScopedWatch watch_;
};

}  // namespace urnic::control
