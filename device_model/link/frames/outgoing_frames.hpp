// Frames of a round that wait to be sent together, in the form that carriers take (frame_carrier.hpp): each
// behind its length in 32 bits, big endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "device_model/link/frames/frame_stream.hpp"
#include "wire/byte_order.hpp"
#include "wire/frame.hpp"

namespace urnic::link {

class OutgoingFrames {
 public:
  explicit OutgoingFrames(std::size_t most_bytes) : most_(most_bytes) {}

  // Copies the frame. False: too many bytes wait, and it is lost.
  bool add(const wire::Frame& frame) {
    if (bytes_.size() + kLengthBytes + frame.size() > most_) return false;
    std::array<std::byte, kLengthBytes> length;
    wire::store_be32(length.data(), static_cast<std::uint32_t>(frame.size()));
    for (const std::span<const std::byte> piece :
         {std::span<const std::byte>(length), frame.headers, frame.payload, frame.trailer})
      bytes_.insert(bytes_.end(), piece.begin(), piece.end());
    return true;
  }

  std::span<const std::byte> bytes() const { return bytes_; }
  bool empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }

 private:
  const std::size_t most_;
  std::vector<std::byte> bytes_;
};

}  // namespace urnic::link
