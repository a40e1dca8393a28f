#include "device_model/link/frames/frame_stream.hpp"

#include <algorithm>
#include <cstring>

#include "wire/byte_order.hpp"
#include "wire/network_codec.hpp"

namespace urnic::link {

std::span<std::byte> FrameStreamReader::next() {
  for (;;) {
    const std::size_t skip = std::min(to_skip_, readable());
    begin_ += skip;
    to_skip_ -= skip;
    if (broken_ || to_skip_ != 0 || readable() < kLengthBytes) return {};
    const std::size_t length = wire::load_be32(bytes_.get() + begin_);
    broken_ = length < wire::kEthernetBytes || length > kMostStreamedBytes;
    if (broken_) return {};
    if (length > kMostFrameBytes) {
      ++skipped_;
      begin_ += kLengthBytes;
      to_skip_ = length;
      continue;
    }
    if (readable() < kLengthBytes + length) return {};
    const std::span<std::byte> frame(bytes_.get() + begin_ + kLengthBytes, length);
    begin_ += kLengthBytes + length;
    return frame;
  }
}

void FrameStreamReader::release() {
  if (begin_ == 0) return;
  std::memmove(bytes_.get(), bytes_.get() + begin_, readable());
  end_ -= begin_;
  begin_ = 0;
}

void FrameStreamReader::restart() {
  begin_ = end_ = to_skip_ = 0;
  broken_ = false;
}

}  // namespace urnic::link
