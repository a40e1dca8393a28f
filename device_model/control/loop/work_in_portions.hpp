// Work of the control thread that would keep all programs waiting if it were done in one go: done in
// portions, one after each look at what programs want.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <utility>

namespace urnic::control {

// Control thread only.
class WorkInPortions {
 public:
  // Does a portion, of 0.1 ms or so; returns whether there is more to do. May add and end work, its own too.
  using Portion = std::function<bool()>;

  class Work;

  bool empty() const { return works_.empty(); }
  // One portion of one work; each has its turn.
  void run_one();

 private:
  std::list<std::shared_ptr<Portion>> works_;  // the first one is next
};

// A work that is under way until it has no more to do or its owner gives it up. `WorkInPortions` outlives it.
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
