// Tasks from other threads to the engine thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

namespace urnic::engine {

class Mailbox {
 public:
  using Task = std::function<void()>;

  // Other threads: adds `task`. Then wake the engine if it sleeps, and call `wait`.
  class Letter {
   public:
    explicit Letter(const Task& task) : task_(task) {}

   private:
    friend class Mailbox;
    const Task& task_;
    bool done_ = false;
    std::exception_ptr exception_;
  };
  void post(Letter& letter);
  // Returns when the letter's task has run; rethrows its exception.
  void wait(Letter& letter);

  // Engine thread: one relaxed load while there are no tasks.
  bool has_tasks() const { return has_tasks_.load(std::memory_order_relaxed); }
  // Runs all tasks; calls `between` after each.
  template <class Between>
  void run(Between between) {
    for (Letter* letter : take()) {
      try {
        letter->task_();
      } catch (...) {
        letter->exception_ = std::current_exception();
      }
      between();
      answer(*letter);
    }
  }

 private:
  std::vector<Letter*> take();
  void answer(Letter& letter);

  std::atomic<bool> has_tasks_{false};
  std::mutex mutex_;
  std::condition_variable answered_;
  std::vector<Letter*> letters_;
};

}  // namespace urnic::engine
