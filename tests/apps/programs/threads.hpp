// Threads whose failures are the test's.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace urnic::apps {

// Threads that are joined at the end of the scope at the latest. What one of them throws, `join` throws.
class Threads {
 public:
  Threads() = default;
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    stop_ = true;
    wait();
  }

  template <typename Function>
  void start(Function function) {
    threads_.emplace_back([this, function = std::move(function)] {
      try {
        function();
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!problem_) problem_ = std::current_exception();
        failed_ = true;
      }
    });
  }

  // Whether one has thrown already, for those that go on until they are told to end.
  bool failed() const { return failed_; }

  // What threads look at that go on until they are told to end; set when the scope ends, too.
  const std::atomic<bool>& stop() const { return stop_; }

  // Tells those to end, and waits for all.
  void finish() {
    stop_ = true;
    join();
  }

  void join() {
    wait();
    if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
  }

 private:
  void wait() {
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::mutex mutex_;
  std::exception_ptr problem_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_;
};

}  // namespace urnic::apps
