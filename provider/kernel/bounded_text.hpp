// Text in a fixed buffer, for code that may not allocate: inside signal handlers, and between vfork and exec.
#pragma once

#include <cstddef>
#include <cstring>

namespace urnic::kernel {

// NUL-terminated text of at most `Capacity` - 1 bytes. Text that does not fit is not appended; fits() is then
// false for good.
template <std::size_t Capacity>
class BoundedText {
 public:
  BoundedText() { buffer_[0] = '\0'; }
  BoundedText(const BoundedText&) = delete;
  BoundedText& operator=(const BoundedText&) = delete;

  BoundedText& append(const char* text, std::size_t length) {
    if (length >= Capacity - length_) {
      fits_ = false;
      return *this;
    }
    std::memcpy(buffer_ + length_, text, length);
    length_ += length;
    buffer_[length_] = '\0';
    return *this;
  }
  BoundedText& append(const char* text) { return append(text, std::strlen(text)); }
  BoundedText& append_number(unsigned number) {
    char digits[10];
    std::size_t start = sizeof digits;
    do {
      digits[--start] = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return append(digits + start, sizeof digits - start);
  }

  // Cuts the text to its first `length` bytes; a shorter text stays.
  void shorten(std::size_t length) {
    if (length < length_) buffer_[length_ = length] = '\0';
  }

  const char* text() const { return buffer_; }
  std::size_t length() const { return length_; }
  bool fits() const { return fits_; }

 private:
  std::size_t length_ = 0;
  bool fits_ = true;
  char buffer_[Capacity];
};

// Enough bytes for every path in the run directory's sysfs tree. PATH_MAX would take 4 KiB of a signal stack
// per call.
inline constexpr std::size_t kPathCapacity = 1024;
using PathText = BoundedText<kPathCapacity>;

}  // namespace urnic::kernel
