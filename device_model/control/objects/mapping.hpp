// Owner of a shared mapping of a file.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>
#include <utility>

namespace urnic::control {

class SharedMapping {
 public:
  SharedMapping() = default;
  // Maps the first `length` bytes of `descriptor` for reading and writing; throws std::system_error.
  SharedMapping(int descriptor, std::size_t length) : length_(length) {
    void* place = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (place == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    data_ = static_cast<std::byte*>(place);
  }
  SharedMapping(SharedMapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), length_(std::exchange(other.length_, 0)) {}
  SharedMapping& operator=(SharedMapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(length_, other.length_);
    return *this;
  }
  ~SharedMapping() {
    if (data_ != nullptr) munmap(data_, length_);
  }

  std::byte* data() const { return data_; }
  std::size_t size() const { return length_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t length_ = 0;
};

}  // namespace urnic::control
