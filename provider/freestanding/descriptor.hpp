// A file descriptor that closes itself.
#pragma once

#include <unistd.h>

namespace urnic::provider {

// Owns a file descriptor. Negative: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ~Descriptor() { reset(); }

  int get() const { return number_; }
  bool valid() const { return number_ >= 0; }

  // Passes the descriptor to the caller, without closing it.
  int release() {
    const int number = number_;
    number_ = -1;
    return number;
  }

  // Closes the present descriptor and takes ownership of `number`.
  void reset(int number = -1) {
    if (number_ >= 0) close(number_);
    number_ = number;
  }

 private:
  int number_ = -1;
};

}  // namespace urnic::provider
