// A doubly linked list through the objects themselves (members `next` and `previous`), without allocation.
// The objects stay the caller's.
#pragma once

namespace urnic::provider {

template <typename T>
class ObjectList {
 public:
  T* first() const { return first_; }

  void add(T& object) {
    object.previous = nullptr;
    object.next = first_;
    if (first_ != nullptr) first_->previous = &object;
    first_ = &object;
  }

  void remove(T& object) {
    (object.previous != nullptr ? object.previous->next : first_) = object.next;
    if (object.next != nullptr) object.next->previous = object.previous;
  }

 private:
  T* first_ = nullptr;
};

}  // namespace urnic::provider
