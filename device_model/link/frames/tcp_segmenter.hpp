// TCP segmentation: divides a segment that a host has left to its interface into frames of the wire.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device_model/link/frames/tcp_layout.hpp"

namespace urnic::link {

class TcpSegmenter {
 public:
  // `whole` is the frame, and stays where it is until `is_done`; each part gets `payload_bytes` of its
  // payload, the last one what is left. False: it is no frame that can be divided so that a part has at most
  // `most_bytes`. Nothing in `whole` is trusted.
  bool begin(std::span<const std::byte> whole, std::size_t payload_bytes, std::size_t most_bytes);

  bool is_done() const { return at_ == whole_.size(); }
  // Writes the next part to `to`, which has room for `most_bytes`, with all its check sums. Returns its
  // length.
  std::size_t next(std::byte* to);

 private:
  std::span<const std::byte> whole_;
  TcpLayout layout_;
  std::size_t payload_bytes_ = 0;
  std::size_t at_ = 0;       // in `whole_`: of the payload that follows
  std::uint16_t parts_ = 0;  // so far
};

}  // namespace urnic::link
