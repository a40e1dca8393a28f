// Long work of the control thread, done in portions so that programs do not wait for all of it: one portion
// after each poll of the programs' requests.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <utility>

namespace urnic::control {

// Control thread only.
class WorkInPortions {
 public:
  // Does a portion of about 0.1 ms; returns whether more is left. May add and end work, its own too.
  using Portion = std::function<bool()>;

  class Work;

  bool empty() const { return works_.empty(); }
  // Runs one portion of the next work in turn.
  void run_one();

 private:
  std::list<std::shared_ptr<Portion>> works_;  // the first one is next
};

// Work under way, until it is done or its owner destroys this. `WorkInPortions` outlives it.
class WorkInPortions::Work {
 public:
  Work() = default;
  Work(WorkInPortions& works, Portion portion);
  Work(Work&& other) noexcept
      : works_(std::exchange(other.works_, nullptr)), portion_(std::move(other.portion_)) {}
  Work& operator=(Work&& other) noexcept {
    std::swap(works_, other.works_);
    std::swap(portion_, other.portion_);
    return *this;
  }
  ~Work() { reset(); }

  void reset();

 private:
  WorkInPortions* works_ = nullptr;
  std::shared_ptr<Portion> portion_;
};

}  // namespace urnic::control
