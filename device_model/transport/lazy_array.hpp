// An array that takes memory only where it has been touched: for state that every queue pair must have room
// for and few use.
#pragma once

#include <cstddef>
#include <type_traits>

#include "device_model/transport/lazy_pages.hpp"

namespace urnic::transport {

template <class T>
class LazyArray {
  // Nobody constructs its elements, and nobody destroys them.
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Reserves address space for `size` elements, which have any values; throws std::bad_alloc.
  explicit LazyArray(std::size_t size)
      : bytes_(size * sizeof(T)), elements_(static_cast<T*>(take_lazy_pages(bytes_))) {}
  ~LazyArray() { give_back_lazy_pages(elements_, bytes_); }
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;

  T& operator[](std::size_t index) { return elements_[index]; }
  const T& operator[](std::size_t index) const { return elements_[index]; }

 private:
  std::size_t bytes_;
  T* elements_;
};

}  // namespace urnic::transport
