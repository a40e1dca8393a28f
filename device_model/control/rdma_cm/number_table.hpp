// Objects by numbers that count from 0, the lowest free one first, as Linux gives them out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

namespace urnic::control::rdma_cm {

// Owns its objects.
template <class Object>
class NumberTable {
 public:
  // The number that the next object gets.
  std::uint32_t next() const {
    return free_.empty() ? static_cast<std::uint32_t>(objects_.size()) : free_.top();
  }
  void insert(std::unique_ptr<Object> object) {
    if (free_.empty()) {
      objects_.push_back(std::move(object));
    } else {
      objects_[free_.top()] = std::move(object);
      free_.pop();
    }
    ++count_;
  }
  Object* find(std::uint32_t number) const {
    return number < objects_.size() ? objects_[number].get() : nullptr;
  }
  // There is such an object.
  std::unique_ptr<Object> extract(std::uint32_t number) {
    free_.push(number);
    --count_;
    return std::move(objects_[number]);
  }
  std::size_t count() const { return count_; }
  // No object has this number or a higher one.
  std::uint32_t end_number() const { return static_cast<std::uint32_t>(objects_.size()); }

 private:
  std::vector<std::unique_ptr<Object>> objects_;
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free_;
  std::size_t count_ = 0;
};

}  // namespace urnic::control::rdma_cm
