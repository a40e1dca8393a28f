// A short line with one remark for each change to a packet. Never allocates: cuts off what does not fit.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "device_model/link/observation.hpp"

namespace urnic::link {

class Remarks {
 public:
  Remarks() = default;
  Remarks(const Remarks& other) { *this = other; }
  Remarks& operator=(const Remarks& other) {
    length_ = other.length_;
    std::copy_n(other.text_.data(), length_, text_.data());
    return *this;
  }

  bool empty() const { return length_ == 0; }
  std::string_view view() const { return {text_.data(), length_}; }

  Remarks& add(std::string_view text) {
    const std::size_t fits = std::min(text.size(), text_.size() - length_);
    std::copy_n(text.data(), fits, text_.data() + length_);  // not memcpy: an empty view's data may be null
    length_ += fits;
    return *this;
  }
  Remarks& add(std::uint64_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return add(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
  }
  // Begins the next remark.
  Remarks& next() { return empty() ? *this : add("; "); }

 private:
  std::array<char, kMaxRemarkBytes> text_;  // only the first length_ bytes are valid
  std::size_t length_ = 0;
};

}  // namespace urnic::link
