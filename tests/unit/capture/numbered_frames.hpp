// Frames whose content follows from a number, and both ends of a ring in one process.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "device_model/capture/capture_ring.hpp"

namespace urnic::capture::test {

inline memory::Descriptor duplicate(int descriptor) { return memory::Descriptor(dup(descriptor)); }

inline CaptureReader reader_of(const CaptureWriter& writer) {
  return CaptureReader(duplicate(writer.ring_descriptor()), duplicate(writer.wake_descriptor()));
}

// Frame number n: 54 bytes of headers, payload and trailer sizes that vary with n.
class NumberedFrame {
 public:
  explicit NumberedFrame(std::uint64_t n) : bytes_(54 + n % 4097 + 4 + n % 4) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = static_cast<std::byte>(n * 31 + i * 7);
  }
  wire::Frame frame() const {
    const std::span<const std::byte> all(bytes_);
    const std::size_t trailer = 4 + (bytes_.size() - 58) % 4;
    return {all.first(54), all.subspan(54, all.size() - 54 - trailer), all.last(trailer)};
  }
  bool matches(const CapturedFrame& captured) const {
    return captured.original_bytes == size() &&
           std::equal(bytes_.begin(), bytes_.end(), captured.bytes.begin(), captured.bytes.end());
  }
  // Of a capture that is cut.
  bool begins_with(const CapturedFrame& captured) const {
    return captured.original_bytes == size() && captured.bytes.size() <= size() &&
           std::equal(captured.bytes.begin(), captured.bytes.end(), bytes_.begin());
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::vector<std::byte> bytes_;
};

// A frame of `size` bytes, for tests that fill a ring exactly.
inline std::vector<std::byte> plain_bytes(std::size_t size, int value = 0x5A) {
  return std::vector<std::byte>(size, static_cast<std::byte>(value));
}

}  // namespace urnic::capture::test
