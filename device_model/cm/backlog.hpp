// How many requests of a listener have no answer yet.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace urnic::cm {

// One request's place in its listener's backlog, given back by the destructor. It may outlive the listener.
class BacklogPlace {
 public:
  BacklogPlace() = default;
  // Counts itself in `*waiting`.
  explicit BacklogPlace(std::shared_ptr<std::uint32_t> waiting) : waiting_(std::move(waiting)) {
    ++*waiting_;
  }
  BacklogPlace(BacklogPlace&& other) noexcept : waiting_(std::exchange(other.waiting_, nullptr)) {}
  BacklogPlace& operator=(BacklogPlace&& other) noexcept {
    std::swap(waiting_, other.waiting_);
    return *this;
  }
  ~BacklogPlace() { give_back(); }

  void give_back() {
    if (waiting_) --*waiting_;
    waiting_.reset();
  }

 private:
  std::shared_ptr<std::uint32_t> waiting_;
};

}  // namespace urnic::cm
