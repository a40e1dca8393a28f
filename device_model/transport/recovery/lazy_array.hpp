// An array of zeros that takes memory only where it has been touched: for state that every queue pair must
// have room for and few use.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace urnic::transport {

template <class T>
class LazyArray {
  // Zeroed pages are its first value, and nobody destroys it.
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  // Reserves address space for `size` elements; throws std::bad_alloc.
  explicit LazyArray(std::size_t size) : bytes_(size * sizeof(T)) {
    void* pages =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(pages);
  }
  ~LazyArray() { munmap(elements_, bytes_); }
  LazyArray(const LazyArray&) = delete;
  LazyArray& operator=(const LazyArray&) = delete;

  T& operator[](std::size_t index) { return elements_[index]; }
  const T& operator[](std::size_t index) const { return elements_[index]; }

 private:
  std::size_t bytes_;
  T* elements_;
};

}  // namespace urnic::transport
