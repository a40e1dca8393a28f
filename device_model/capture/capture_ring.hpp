// Captured frames on their way from the engine to the process that writes the capture file: a ring in a
// memfd.
//
// The engine publishes whole records only, so that whatever ends the device process, a reader can drain the
// ring and its file is whole. Single writer, single reader.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "device_model/capture/ring_memory.hpp"
#include "device_model/capture/rising_timestamps.hpp"
#include "device_model/memory/descriptor.hpp"
#include "wire/frame.hpp"

namespace urnic::capture {

// Where a frame was seen, and a comment on it.
struct CaptureMark {
  std::uint16_t interface = 0;  // an index into the capture's interfaces
  std::string_view comment;     // cut off after kMaxCommentBytes; empty for none
};

// The engine's end. Each observed frame gets a nanosecond timestamp that rises strictly.
class CaptureWriter {
 public:
  // Makes the ring (`bytes`, a power of two, 8192 or more); throws std::system_error. `patience_ms`: how long
  // the writer waits for a reader that makes no progress before it begins to drop frames. `snapshot_bytes`:
  // how many bytes of a frame it keeps at most.
  explicit CaptureWriter(std::size_t bytes, int patience_ms = 1000,
                         std::size_t snapshot_bytes = kMaxFrameBytes);

  // Adds a frame. When the ring is full the writer waits for the reader, up to `patience_ms` in all without
  // progress; from then on frames are counted as dropped until there is room again. No system call while
  // there is room and the reader does not wait.
  void observe(const wire::Frame& frame, const CaptureMark& mark = {});

  // The reader has given back all room.
  bool is_empty() const { return head_ == ring_.indices().tail.load(std::memory_order_relaxed); }
  // Counts a frame as dropped that the caller does not add.
  void skip() { drop(); }

  // For the reader's process: the ring's memfd, and a socket that becomes readable when a waiting reader
  // should look. The writer owns both. (A socket, not an eventfd: every holder of an eventfd can make writes
  // to it block, and a reader must not block the engine.)
  int ring_descriptor() const { return descriptor_.get(); }
  int wake_descriptor() const { return wake_readable_.get(); }
  // From any thread.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  // What a record has of a frame, in bytes: of the frame itself, with what a record of InfiniBand has around
  // it (erf_record.hpp), and how much that would be if the frame were not cut.
  struct Share {
    std::size_t kept;
    std::size_t recorded;
    std::size_t original;
  };

  Share share_of(const wire::Frame& frame) const;
  static void record(const wire::Frame& frame, const Share& share, std::uint64_t nanoseconds, std::byte* to);
  bool has_room(std::uint64_t bytes) const;
  bool wait_for_room(std::uint64_t bytes);
  void wake_reader();
  void drop();

  memory::Descriptor descriptor_;
  RingMemory ring_;
  memory::Descriptor wake_readable_;
  memory::Descriptor wake_writable_;
  const int patience_ms_;
  const std::size_t snapshot_bytes_;
  std::uint64_t head_ = 0;  // the ring's copy is for the reader and never read back
  RisingTimestamps timestamps_;
  bool reader_is_stuck_ = false;
  bool after_gap_ = false;  // frames were dropped since the last that was added
  std::atomic<std::uint64_t> dropped_{0};
};

struct CapturedFrame {
  std::uint64_t nanoseconds = 0;     // since the Unix epoch
  std::span<const std::byte> bytes;  // in the ring, where a hostile writer may change them at any time
  std::size_t original_bytes = 0;    // of the frame; `bytes` has fewer if the capture is cut
  std::uint16_t interface = 0;
  std::string_view comment{};
  bool after_gap = false;  // the writer has dropped frames before this one
};

// The reader's end, in another process. Everything in the ring is checked before it is used.
class CaptureReader {
 public:
  // The writer's ring_descriptor() and wake_descriptor(), and how many interfaces the capture has. Throws
  // std::system_error if `ring` cannot be mapped, std::runtime_error if it is no ring.
  CaptureReader(memory::Descriptor ring, memory::Descriptor wake, std::size_t interfaces = 1);

  // Takes the next frame; false if there is none. Its bytes lie in the ring and are valid until release(),
  // its comment is valid until the next call. Throws std::runtime_error, at this call and all later ones, if
  // the ring does not hold valid records.
  bool next(CapturedFrame& frame);
  // Gives the room of all frames that `next` handed out back to the writer. Without it the ring becomes full.
  void release();
  // From now on `next` hands out only the frames that are in the ring at this moment, so that a reader slower
  // than the traffic comes to an end.
  void stop_here();
  // Waits until a frame may be there or `milliseconds` have passed (-1: for ever). Returns true if `other` (a
  // socket, or -1) is readable or hung up, or if the writer's process is gone; frames may be left in the ring
  // then.
  bool wait(int other, int milliseconds);
  // Like `wait`, but frames do not end it: a reader that expects frames lets them gather, and the engine need
  // not wake it. Nothing is lost while the ring has room.
  bool rest(int other, int milliseconds);
  // Frames that the writer dropped because this reader was slow.
  std::uint64_t dropped() const;

 private:
  [[noreturn]] void refuse(const char* what);

  RingMemory ring_;
  memory::Descriptor wake_;
  const std::size_t interfaces_;
  std::uint64_t tail_ = 0;  // behind the last frame that `next` handed out; release() stores it in the ring
  std::optional<std::uint64_t> end_;  // the head at stop_here()
  bool damaged_ = false;
  std::array<char, kMaxCommentBytes> comment_{};
};

}  // namespace urnic::capture
