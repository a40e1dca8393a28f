// A first-in first-out queue that allocates only when it grows.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace urnic::transport::lab {

template <typename Element>
class Ring {
 public:
  bool empty() const { return first_ == last_; }
  std::size_t size() const { return last_ - first_; }
  Element& front() { return elements_[first_ & (elements_.size() - 1)]; }
  const Element& front() const { return elements_[first_ & (elements_.size() - 1)]; }
  void pop_front() { ++first_; }
  void push_back(const Element& element) {
    if (size() == elements_.size()) grow();
    elements_[last_++ & (elements_.size() - 1)] = element;
  }

 private:
  void grow() {
    std::vector<Element> larger(elements_.size() * 2);
    for (std::size_t i = first_; i != last_; ++i) {
      larger[i & (larger.size() - 1)] = elements_[i & (elements_.size() - 1)];
    }
    elements_ = std::move(larger);
  }

  std::vector<Element> elements_ = std::vector<Element>(1024);
  std::size_t first_ = 0;  // free-running
  std::size_t last_ = 0;
};

}  // namespace urnic::transport::lab
