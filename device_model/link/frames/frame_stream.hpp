// Ethernet frames on a byte stream: a 32-bit big-endian length in front of each, as QEMU's `-netdev stream`
// and
// `-netdev socket` speak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace urnic::link {

inline constexpr std::size_t kLengthBytes = 4;
// Longer frames are skipped: jumbo frames have 9018 bytes and a VLAN tag.
inline constexpr std::size_t kMostFrameBytes = 16 * 1024;
// No frame of a stream is longer (QEMU, net/net.c: NET_BUFSIZE).
inline constexpr std::size_t kMostStreamedBytes = 68 * 1024;

// Takes bytes as the stream brings them, and gives whole frames. The peer may send any bytes.
class FrameStreamReader {
 public:
  static constexpr std::size_t kBufferBytes = 256 * 1024;

  FrameStreamReader() : bytes_(new std::byte[kBufferBytes]) {}

  // Where the next bytes of the stream belong. Empty while frames that are not released fill the buffer.
  std::span<std::byte> space() { return {bytes_.get() + end_, kBufferBytes - end_}; }
  // The first `count` bytes of `space` are filled.
  void filled(std::size_t count) { end_ += count; }

  // The next whole frame; empty if there is none, or the stream is broken. Valid until `release`.
  std::span<std::byte> next();
  // The frames given so far are no longer needed.
  void release();
  // The peer has begun a new stream.
  void restart();

  // A length came that no frame has: shorter than an Ethernet header, or longer than kMostStreamedBytes.
  // Where the next frame begins is not known: the stream is of no use any more, until `restart`.
  bool broken() const { return broken_; }
  // Frames that were skipped because they are longer than kMostFrameBytes.
  std::uint64_t skipped() const { return skipped_; }

 private:
  std::size_t readable() const { return end_ - begin_; }

  std::unique_ptr<std::byte[]> bytes_;
  std::size_t begin_ = 0;  // of what no `next` has passed
  std::size_t end_ = 0;
  std::size_t to_skip_ = 0;  // bytes of a skipped frame that have not come yet
  bool broken_ = false;
  std::uint64_t skipped_ = 0;
};

}  // namespace urnic::link
